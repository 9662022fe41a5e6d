import type { Account, AccountAnswer, AccountKey } from '../domain/account.ts';
import { maskEmail, maskPhone } from '../domain/mask.ts';
import { customerWord } from '../slack/words/evidence.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import {
  factLines,
  firstLine,
  isoTime,
  merchantJson,
  placeLine,
  quotedText,
  shortText,
  textOrNull,
  type Place,
} from './lines.ts';

export type AccountView = { key: AccountKey; answer: AccountAnswer; place: Place; checkedAtMs: number };

export function accountExitCode({ kind }: AccountAnswer): ExitCode {
  switch (kind) {
    case 'found':
      return exitCodes.ok;
    case 'not_found':
      return exitCodes.notFound;
    case 'refused':
      return exitCodes.refused;
  }
}

export function accountText({ key, answer, place, checkedAtMs }: AccountView): string {
  return [...answerLines(key, answer), placeLine(place, 'looked up', checkedAtMs), ''].join('\n');
}

const keyWords: Record<AccountKey['by'], string> = { accountId: 'account id', accountRef: 'reference' };

function answerLines({ by, value }: AccountKey, answer: AccountAnswer): string[] {
  const asked = shortText(value) ?? '';
  switch (answer.kind) {
    case 'found':
      return accountLines(answer.account);
    case 'not_found':
      return [firstLine('Not found', [`account with the ${keyWords[by]} ${asked}`])];
    case 'refused':
      return [
        firstLine(`⚠️ The service does not take this ${keyWords[by]}`, [asked]),
        '  Whether there is such an account is not known by this. Look for it: payops accounts',
        ...factLines({ 'The service’s own words': quotedText(answer.message) }),
      ];
  }
}

function accountLines(account: Account): string[] {
  const { accountName, status, accountRef, type, currency, email, phoneNumber, banks = [] } = account;
  const kind = [type, currency].map(shortText).filter((part) => part !== undefined);
  return [
    firstLine(
      'Account',
      [accountName, status, accountRef].map((part) => shortText(part) ?? ''),
    ),
    ...factLines({
      'Account id': shortText(account.accountId),
      Kind: kind.join(', '),
      'E-mail': customerWord(email),
      Phone: phoneNumber === undefined ? undefined : maskPhone(phoneNumber),
      Address: shortText(account.address),
      Created: shortText(account.createdAt),
      Updated: shortText(account.updatedAt),
      Description: quotedText(account.description),
    }),
    ...banks.map(({ bankAccountNumber, bankName, bankAccountName }) => {
      const parts = [bankAccountNumber ?? 'no number', bankName, bankAccountName].map(shortText);
      return `  Bank account ${parts.filter((part) => part !== undefined).join(' · ')}`;
    }),
  ];
}

/** The document of `account --json`; e-mail and telephone number stay masked. */
export function accountJson({ key, answer, place, checkedAtMs }: AccountView): Record<string, unknown> {
  return {
    kind: 'account',
    verdict: answer.kind,
    askedBy: key.by,
    asked: key.value,
    account: answer.kind === 'found' ? fieldsOf(answer.account) : null,
    serviceMessage: answer.kind === 'refused' ? textOrNull(answer.message) : null,
    merchant: merchantJson(place),
    checkedAt: isoTime(checkedAtMs),
  };
}

function fieldsOf(account: Account): Record<string, unknown> {
  const { email, phoneNumber, banks = [] } = account;
  return {
    accountId: textOrNull(account.accountId),
    accountRef: textOrNull(account.accountRef),
    accountName: textOrNull(account.accountName),
    status: textOrNull(account.status),
    type: textOrNull(account.type),
    currency: textOrNull(account.currency),
    email: email === undefined ? null : textOrNull(maskEmail(email)),
    phoneNumber: phoneNumber === undefined ? null : maskPhone(phoneNumber),
    address: textOrNull(account.address),
    description: textOrNull(account.description),
    createdAt: textOrNull(account.createdAt),
    updatedAt: textOrNull(account.updatedAt),
    banks: banks.map(({ bankAccountNumber, bankName, bankAccountName }) => ({
      bankAccountNumber: textOrNull(bankAccountNumber),
      bankName: textOrNull(bankName),
      bankAccountName: textOrNull(bankAccountName),
    })),
  };
}
