import type { RichTextBlock } from '@slack/types';
import type { Account, AccountKey } from '../../domain/account.ts';
import { maskNumbers } from '../../domain/card-number.ts';
import { maskPhone } from '../../domain/mask.ts';
import { bold, code, fields, headline, moment, richText, words, type Run } from '../../slack/kit/blocks.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { messageFoot, type ChargePlace } from '../../slack/words/charge-place.ts';
import { customerWord, quoted, word } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

/** More than a person needs at once. */
const mostBanks = 3;

export type AccountShown = { place: ChargePlace; nowMs: number };

/** One sub account, its e-mail and telephone number masked. */
export function accountMessage(account: Account, { place, nowMs }: AccountShown): SlackMessage {
  const { text, block } = headline('Account', [
    word(account.accountName) ?? '',
    statusWord(account),
    word(account.accountRef) ?? '',
  ]);
  return { text, blocks: [block, ...accountFacts(account), messageFoot(place, 'looked up', nowMs)] };
}

/** Its facts, six lines at most, and its banks. */
export function accountFacts(account: Account): RichTextBlock[] {
  const { accountRef, accountId, type, currency, email, phoneNumber, createdAt, banks = [] } = account;
  const contact = [customerWord(email), phoneNumber === undefined ? '' : maskPhone(phoneNumber)];
  return [
    ...fields({
      Reference: accountRef === undefined ? undefined : [code(word(accountRef) ?? '')],
      'Account id': accountId === undefined ? undefined : [code(word(accountId) ?? '')],
      Kind: [word(type), word(currency)].filter((part) => part !== undefined).join(', ') || undefined,
      Contact: contact.filter((part) => part !== '').join(', ') || undefined,
      Created: createdWord(createdAt),
      Address: word(account.address),
    }),
    ...(banks.length === 0 ? [] : [richText(...bankLines(banks))]),
    ...quoted('Its description:', account.description),
  ];
}

/** `pnd` is the service's own word; an unknown status stands as it came. */
function statusWord({ status }: Account): string {
  return status === 'pnd' ? 'pnd (post no debit)' : (word(status) ?? '');
}

function createdWord(createdAt: string | undefined): readonly Run[] | string | undefined {
  if (createdAt === undefined) return undefined;
  const ms = Date.parse(createdAt);
  // Slack refuses a date before 1970 or after 2286, and with it the whole message.
  return ms >= 0 && ms < 1e13 ? [moment(ms)] : word(createdAt);
}

function bankLines(banks: NonNullable<Account['banks']>): Run[][] {
  const hidden = banks.length - mostBanks;
  return [
    ...banks
      .slice(0, mostBanks)
      .map(({ bankAccountNumber, bankName, bankAccountName }): Run[] => [
        bold('Bank account'),
        words('  '),
        code(word(bankAccountNumber) || 'no number'),
        words([bankName, bankAccountName].map((part) => (part ? ` · ${word(part)}` : '')).join('')),
      ]),
    ...(hidden > 0 ? [plain(`… and ${hidden} more.`)] : []),
  ];
}

const keyWords: Record<AccountKey['by'], string> = { accountId: 'account id', accountRef: 'reference' };

/** The service knows no such account: an answer, not an error. */
export function noAccountMessage({ by, value }: AccountKey, { place, nowMs }: AccountShown): SlackMessage {
  const { text, block } = headline('Not found', [
    `account with the ${keyWords[by]} ${word(maskNumbers(value))}`,
  ]);
  const lines = [
    plain(`No sub account has this ${keyWords[by]}.`),
    labelled('Next', 'check the spelling, or look through ', code('/pay accounts'), words('.')),
  ];
  return { text, blocks: [block, richText(...lines), messageFoot(place, 'looked up', nowMs)] };
}

/** The service did not take the reference or id as it stands: its description declares both as UUIDs. */
export function refusedKeyMessage(
  { by, value }: AccountKey,
  message: string | undefined,
  { place, nowMs }: AccountShown,
): SlackMessage {
  const { text, block } = headline(`⚠️ The service doesn’t take this ${keyWords[by]}`, [
    word(maskNumbers(value)) ?? '',
  ]);
  const other = by === 'accountRef' ? 'take its account id from ' : 'find it in ';
  const lines = [labelled('Next', other, code('/pay accounts'), words('.'))];
  return {
    text,
    blocks: [
      block,
      richText(...lines),
      ...quoted('The service says:', message),
      messageFoot(place, 'looked up', nowMs),
    ],
  };
}
