import type { NotMade, Unknown } from './charge-answer.ts';
import { lengthWords, type Length } from './account-field.ts';
import { counted } from './counted.ts';
import { parsed, problem, type Parsed } from './parsed.ts';

/** One entry of an account's banks. Spec: Account (bank entry). */
export type AccountBank = { bankAccountNumber?: string; bankName?: string; bankAccountName?: string };

/**
 * A sub account as the service told it. The holder's BVN is not read at all: nothing here needs it, and what is not
 * read can be neither kept nor shown. An unknown status or type is text like any other.
 *
 * Spec: Account.
 */
export type Account = {
  accountId?: string;
  accountRef?: string;
  accountName?: string;
  status?: string;
  type?: string;
  currency?: string;
  email?: string;
  phoneNumber?: string;
  address?: string;
  description?: string;
  createdAt?: string;
  updatedAt?: string;
  banks?: readonly AccountBank[];
};

/** By which of the two query parameters an account is asked for. */
export type AccountKey = { by: 'accountId'; value: string } | { by: 'accountRef'; value: string };

export type AccountAnswer =
  | { kind: 'found'; account: Account }
  | { kind: 'not_found' }
  /** HTTP 400: the service does not take this query parameter. Its own words, if it sent any. */
  | { kind: 'refused'; message: string | undefined };

/** What a new account is asked for with, by the request's field names. Spec: CreateAccountRequest: not shown. */
export type NewAccount = Readonly<Record<string, string>>;

/** What the service answered to a new account; the shape of `data` is not shown, so the account may be nearly empty. */
export type NewAccountAnswer = { kind: 'created'; account: Account | undefined } | NotMade | Unknown;

/** What became of a new account, as people are told it. */
export type AccountEnd =
  /** `by`: whether the service answered that it made it, or it was found by its reference after a lost answer. */
  | { kind: 'created'; account: Account | undefined; by: 'answer' | 'look_up' }
  | NotMade
  /**
   * It may have been created. What a look-up by its reference found since: nothing, another account, no answer; or
   * none could be made, because it has no reference. `said`: the service's own words.
   */
  | { kind: 'doubt'; lookUp: 'not_found' | 'another' | 'failed' | 'impossible'; said?: string };

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Reads what a person typed as an account's id (36 characters) or its reference. The reference's query parameter is
 * declared as a uuid, which 20 characters cannot be, so nothing but its length is asked, where one is given.
 *
 * Spec: Account (accountRef); GET {base_url}/v1/accounts/sub-account-details.
 */
export function parseAccountKey(
  text: string,
  length: Length = { shortest: 1, longest: 255 },
): Parsed<AccountKey> {
  const trimmed = text.trim();
  if (uuid.test(trimmed)) return parsed({ by: 'accountId', value: trimmed.toLowerCase() });
  const count = [...trimmed].length;
  if (count > 0 && count >= length.shortest && count <= length.longest) {
    return parsed({ by: 'accountRef', value: trimmed });
  }
  const forms = `An accountRef has ${lengthWords(length)}, an account id is a UUID of 36.`;
  return problem(
    count === 0 ? `An account is missing. ${forms}` : `${forms} This has ${counted(count, 'character')}.`,
  );
}

/** Whether each of the words, lower-case, stands in what names the account. */
export function accountMatches(account: Account, words: readonly string[]): boolean {
  const { accountId, accountRef, accountName, status, type, email, description, banks = [] } = account;
  const named = [accountId, accountRef, accountName, status, type, email, description];
  const numbers = banks.map(({ bankAccountNumber }) => bankAccountNumber);
  const text = [...named, ...numbers].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
