import type { Account, AccountAnswer, AccountKey } from '../domain/account.ts';
import { maskNumbers } from '../domain/card-number.ts';
import type { ChargeSeen } from '../domain/charge.ts';
import { counted } from '../domain/wording.ts';
import { maskEmail, maskPhone } from '../domain/outside-text.ts';
import { formatMoney } from '../domain/money.ts';
import type { Transaction } from '../domain/transaction.ts';
import { outsideText } from '../slack/kit/text.ts';
import type { Piece } from '../slack/kit/blocks.ts';
import { customerWord, referenceWord } from '../slack/words/evidence.ts';
import { stateWord } from '../slack/words/state-words.ts';
import {
  transactionDetails,
  transactionState,
  whyNot,
  type TransactionView,
} from '../slack/words/transaction-message.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import {
  factLines,
  isoTime,
  merchantJson,
  moneyJson,
  moneyOrNull,
  placeLine,
  shortText,
  textOrNull,
  type Place,
} from './lines.ts';

/** What one question found: for programs, which docs/command-line.md describes, for people, and for a script. */
export type Answer = { document: Record<string, unknown>; text: string; exitCode: ExitCode };

/** Success is for a transaction that is proven paid, and for nothing else. */
const lookupExitCodes = {
  confirmed: exitCodes.ok,
  not_confirmed: exitCodes.unproven,
  not_paid: exitCodes.unproven,
  not_found: exitCodes.notFound,
} as const;

export function lookupAnswer(view: TransactionView): Answer {
  const { reference, confirmation, checkedAtMs } = view;
  const found = confirmation.kind === 'not_found' ? undefined : confirmation;
  const checks = found ? [found.evidence.status, found.evidence.reference, found.evidence.amount] : [];
  const evidence = checks.map(({ part, holds, statement }) => {
    return { part, holds, statement: outsideText(statement, 300) };
  });
  const transaction = found ? transactionFields(found.transaction) : null;
  return {
    exitCode: lookupExitCodes[confirmation.kind],
    document: {
      kind: 'transaction',
      verdict: confirmation.kind,
      reference: found ? reference : maskNumbers(reference),
      amount: found ? moneyOrNull(found.money) : null,
      evidence,
      transaction,
      merchant: merchantJson(view),
      checkedAt: isoTime(checkedAtMs),
    },
    text: textOf(
      firstLine(transactionState(confirmation), transactionDetails(view)),
      ...(transaction === null
        ? ['  The service knows no such reference on this account; it says nothing about other references.']
        : evidence.map(({ holds, statement }) => `  ${holds ? '✓' : '✗'} ${statement}`)),
      ...(found && found.kind !== 'confirmed' ? whyNot(found).map((line) => `  ${plainWords(line)}`) : []),
      ...factLines(transaction ?? {}),
      placeLine(view, 'checked', checkedAtMs),
    ),
  };
}

function transactionFields(transaction: Transaction): Record<string, unknown> {
  const { orderAmountMinor: minor, orderCurrency, currency = orderCurrency, customerEmail } = transaction;
  const orderedIn = orderCurrency ?? currency;
  return {
    ...textFields(transaction, [
      'id',
      'status',
      'source',
      'type',
      'entryType',
      'paymentMethod',
      'gatewayMessage',
      'orderId',
      'orderReference',
    ]),
    orderAmount: minor === undefined ? null : moneyJson({ minor, ...(orderedIn && { currency: orderedIn }) }),
    customerEmail: customerEmail === undefined ? null : textOrNull(maskEmail(customerEmail)),
  };
}

/** The sentences of the message in Slack, without their looks. */
function plainWords(line: readonly Piece[]): string {
  return line.map((piece) => ('text' in piece ? (piece.text ?? '') : '')).join('');
}

export type AccountView = { key: AccountKey; answer: AccountAnswer; place: Place; checkedAtMs: number };

const accountExitCodes = {
  found: exitCodes.ok,
  not_found: exitCodes.notFound,
  refused: exitCodes.refused,
} as const;

const keyWords: Record<AccountKey['by'], string> = { accountId: 'account id', accountRef: 'reference' };

export function accountAnswer({ key, answer, place, checkedAtMs }: AccountView): Answer {
  const account = answer.kind === 'found' ? accountFields(answer.account) : null;
  const serviceMessage = answer.kind === 'refused' ? textOrNull(answer.message) : null;
  return {
    exitCode: accountExitCodes[answer.kind],
    document: {
      kind: 'account',
      verdict: answer.kind,
      askedBy: key.by,
      asked: key.value,
      account,
      serviceMessage,
      merchant: merchantJson(place),
      checkedAt: isoTime(checkedAtMs),
    },
    text: textOf(
      accountLine(key, answer),
      ...(answer.kind === 'refused'
        ? ['  Whether there is such an account is not known by this. Look for it: payops accounts']
        : []),
      ...factLines(account ?? { serviceMessage }),
      placeLine(place, 'looked up', checkedAtMs),
    ),
  };
}

function accountLine({ by, value }: AccountKey, answer: AccountAnswer): string {
  const asked = shortText(value) ?? '';
  switch (answer.kind) {
    case 'found': {
      const { accountName, status, accountRef } = answer.account;
      return firstLine(
        'Account',
        [accountName, status, accountRef].map((part) => shortText(part) ?? ''),
      );
    }
    case 'not_found':
      return firstLine('Not found', [`account with the ${keyWords[by]} ${asked}`]);
    case 'refused':
      return firstLine(`⚠️ The service does not take this ${keyWords[by]}`, [asked]);
  }
}

/** E-mail and telephone number stay masked. */
function accountFields(account: Account): Record<string, unknown> {
  const { email, phoneNumber, banks = [] } = account;
  return {
    ...textFields(account, ['accountId', 'accountRef', 'accountName', 'status', 'type', 'currency']),
    email: email === undefined ? null : textOrNull(maskEmail(email)),
    phoneNumber: phoneNumber === undefined ? null : maskPhone(phoneNumber),
    ...textFields(account, ['address', 'description', 'createdAt', 'updatedAt']),
    banks: banks.map((bank) => textFields(bank, ['bankAccountNumber', 'bankName', 'bankAccountName'])),
  };
}

export type DoubtView = {
  charges: readonly ChargeSeen[];
  /** References of charges that are not settled, or are, and cannot be opened here. */
  unread: readonly string[];
  place: Place;
  nowMs: number;
};

export function doubtAnswer({ charges, unread, place, nowMs }: DoubtView): Answer {
  const isSettled = charges.length + unread.length === 0;
  const title = isSettled
    ? 'No charge is in doubt'
    : `❔ ${counted(charges.length, 'charge')} without a known outcome`;
  const fields = charges.map((charge) => ({ charge, facts: chargeFields(charge) }));
  return {
    exitCode: isSettled ? exitCodes.ok : exitCodes.unproven,
    document: {
      kind: 'doubt',
      count: charges.length,
      charges: fields.map(({ charge, facts }) => ({
        reference: charge.reference,
        state: charge.state.kind,
        words: stateWord(charge),
        amount: moneyJson(charge.terms.money),
        customerEmail: textOrNull(maskEmail(charge.terms.customerEmail)),
        ...facts,
      })),
      unread,
      merchant: merchantJson(place),
      checkedAt: isoTime(nowMs),
    },
    text: textOf(
      ...(charges.length === 0 && unread.length > 0 ? [] : [title]),
      ...fields.flatMap(({ charge, facts }) => [chargeLine(charge), ...factLines(facts), nextLine(charge)]),
      ...unreadLines(unread),
      placeLine(place, 'read from the bot’s store', nowMs),
    ),
  };
}

/** People are Slack user ids. */
function chargeFields({ by, agent, submittedAt, dueAt, sends }: ChargeSeen): Record<string, unknown> {
  return {
    chargedBy: by,
    inHandOf: agent,
    submittedAt: isoTime(submittedAt),
    nextLookUpBy: dueAt === undefined ? null : isoTime(dueAt),
    sends,
  };
}

function chargeLine(charge: ChargeSeen): string {
  const { terms, reference } = charge;
  return firstLine(stateWord(charge), [
    formatMoney(terms.money),
    customerWord(terms.customerEmail),
    referenceWord(reference),
  ]);
}

function nextLine({ state, dueAt }: ChargeSeen): string {
  if (state.kind === 'review') {
    return '  Next: a person must compare it with the service’s own records; do not charge again, give no value';
  }
  return dueAt === undefined
    ? '  Next: nothing, it has its outcome'
    : '  Next: a running bot looks it up; do not charge again';
}

function unreadLines(unread: readonly string[]): string[] {
  if (unread.length === 0) return [];
  return [
    `❔ ${counted(unread.length, 'charge')} that cannot be opened with these SEALING_KEYS`,
    '  Whether an outcome is open is not known. Next: run this with the very settings of the bot.',
    ...unread.map((reference) => `  ${referenceWord(reference)}`),
  ];
}

/** The first line, as in Slack: state, amount, masked customer, reference. */
function firstLine(state: string, details: readonly string[]): string {
  return [state, ...details.filter((detail) => detail !== '')].join(' · ');
}

function textOf(...lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

function textFields<Name extends string>(
  from: { readonly [Field in Name]?: string | undefined },
  names: readonly Name[],
): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, textOrNull(from[name])]));
}
