import type { NotMade } from '../domain/failure.ts';
import { type PageAnswer, pageQuery, readPageAnswer } from './pages.ts';
import type { PaymentsClient } from './client.ts';
import { type Unknown, askForEffect, type Reply } from './effect-answer.ts';
import { failureOfAnswer, wordsOf } from './failures.ts';
import { asObject, asObjects, looseText, textsOf } from './wire.ts';

/** One entry of an account's banks. Spec: Account (bank entry). */
type AccountBank = { bankAccountNumber?: string; bankName?: string; bankAccountName?: string };

/** All fields but `banks`. Spec: Account. */
const accountFields = [
  'accountId',
  'accountRef',
  'accountName',
  'status',
  'type',
  'currency',
  'email',
  'phoneNumber',
  'address',
  'description',
  'createdAt',
  'updatedAt',
] as const;

/**
 * A sub account as the service sent it. The holder's BVN is never read, so it can be neither stored nor shown. Unknown
 * statuses and types are kept as text.
 *
 * Spec: Account.
 */
export type Account = { [Field in (typeof accountFields)[number]]?: string } & {
  banks?: readonly AccountBank[];
};

/** The query parameter to find an account by. */
export type AccountKey = { by: 'accountId' | 'accountRef'; value: string };

export type AccountAnswer =
  | { kind: 'found'; account: Account }
  | { kind: 'not_found' }
  /** HTTP 400: the service refuses this query parameter. `message`: its own words, if any. */
  | { kind: 'refused'; message: string | undefined };

/** The body of the request, by the service's field names. Spec: CreateAccountRequest: not shown. */
export type NewAccount = Readonly<Record<string, string>>;

/** `account`: may be nearly empty, because its fields are unspecified. */
export type NewAccountAnswer = { kind: 'created'; account: Account | undefined } | NotMade | Unknown;

/**
 * One page of the parent's sub accounts, newest first; without a cursor the first. Throws ServiceFailure if the service
 * gave no usable answer.
 *
 * Spec: GET {base_url}/v1/accounts.
 */
export async function listAccounts(
  client: PaymentsClient,
  parentAccountId: string,
  cursor?: string,
): Promise<PageAnswer<Account>> {
  const answer = await client.GET('/v1/accounts', {
    params: { header: { accountId: parentAccountId }, query: pageQuery(cursor) },
  });
  return readPageAnswer(answer, cursor, readAccount);
}

/**
 * The sub account with that id or reference. Sends one query parameter, because the specification doesn't say whether
 * both are allowed. `not_found` is HTTP 404, or code "01" or "404". Throws ServiceFailure if the service gave no usable
 * answer.
 *
 * Spec: GET {base_url}/v1/accounts/sub-account-details (fields of `data`: not shown, so read as an Account).
 */
export async function findAccount(
  client: PaymentsClient,
  parentAccountId: string,
  { by, value }: AccountKey,
): Promise<AccountAnswer> {
  const answer = await client.GET('/v1/accounts/sub-account-details', {
    params: { header: { accountId: parentAccountId }, query: { [by]: value } },
  });
  const { status } = answer.response;
  const envelope = asObject(answer.data ?? answer.error);
  const code = looseText.parse(envelope?.['code']);
  if (status === 404 || code === '01' || code === '404') return { kind: 'not_found' };
  if (status === 400 || status === 422) return { kind: 'refused', message: wordsOf(envelope) };
  const account = requestedAccount(asObjects(envelope?.['data']).map(readAccount), { by, value });
  if (code === '00' && account) return { kind: 'found', account };
  throw failureOfAnswer(answer, 'The account was answered without code "00" and its own data.');
}

/** The account with the requested id or reference. A sole account may lack that field, as `data` is unspecified. */
function requestedAccount(accounts: readonly Account[], { by, value }: AccountKey): Account | undefined {
  const match = accounts.find((account) => account[by]?.toLowerCase() === value.toLowerCase());
  if (match || accounts.length !== 1) return match;
  return accounts[0]?.[by] === undefined ? accounts[0] : undefined;
}

/**
 * Requests a new sub account, once. `secrets` are struck out of the answer. Only code "00" proves that the account
 * exists. Every other answer, unless it is a refusal, is `unknown`: the account may exist. Never throws.
 *
 * Spec: POST {base_url}/v1/accounts (CreateAccountRequest and fields of `data`: not shown).
 */
export async function createAccount(
  client: PaymentsClient,
  parentAccountId: string,
  wanted: NewAccount,
  secrets: readonly string[],
): Promise<NewAccountAnswer> {
  return await askForEffect({
    call: () =>
      client.POST('/v1/accounts', { params: { header: { accountId: parentAccountId } }, body: wanted }),
    judge: judgeCreation,
    secrets,
  });
}

function judgeCreation({ isOk, code, data, isDenied }: Reply): NewAccountAnswer | undefined {
  return isOk && code === '00' && !isDenied
    ? { kind: 'created', account: data && readAccount(data) }
    : undefined;
}

function readAccount(record: unknown): Account {
  const banks = asObjects(asObject(record)?.['banks']).map((bank) =>
    textsOf(bank, ['bankAccountNumber', 'bankName', 'bankAccountName']),
  );
  return { ...textsOf(record, accountFields), ...(banks.length > 0 ? { banks } : {}) };
}
