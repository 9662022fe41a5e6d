import type { z } from 'zod';
import { chargeLimits } from '../domain/charge.ts';
import {
  httpUrl,
  inGroup,
  jsonTemplate,
  oneOf,
  pointer,
  pointerList,
  statusList,
  text,
  uuid,
  wholeNumber,
  secret,
  setting,
  list,
  made,
} from './readers.ts';

/**
 * One field of the request that creates an account, as the settings name it. Lengths count characters as people see
 * them. With `choices` nothing else is taken.
 */
type AccountField = {
  name: string;
  required: boolean;
  shortest: number;
  longest: number;
  choices?: readonly string[];
  /** Sent and forgotten: never filled in, stored or shown again. */
  secret?: true;
};

/**
 * The fields of an Account that a person gives, with the constraints of the specification. The request's own fields
 * are not shown there, so this is a setting's default and nothing more.
 *
 * Spec: Account (constraints); CreateAccountRequest: not shown.
 */
export const knownAccountFields =
  'accountName!:2-255,accountRef:20,type:virtual|physical,currency:NGN,phoneNumber,email,bvn:11,address:0-255,description';

/** An answer that comes as late as it may still comes before the charge is looked up, with time left to store it. */
const slowestAnswerSeconds = chargeLimits.answerMs / 1_000 - 5;

const issuePlaces = ['CLIENT_ID', 'CLIENT_SECRET', 'ACCOUNT_ID'];

const secretByDefault: ReadonlySet<string> = new Set(['pin', 'bvn']);

/** A modal has room for no more beside its own lines. */
const mostFields = 30;
const longestText = 3_000;

/** What the settings' form is, for whoever wrote it wrong. */
const accountFieldForm =
  'field names separated by commas, each with ! when it must be filled and * when it is secret, and :20 for an exact length, :2-255 for a range or :virtual|physical for choices';

/** How the payments service is reached, and as whom. */
export const paymentsSettings = {
  ...inGroup('Payments service', {
    paymentsService: setting(
      'Name of a set of settings in `openapi/services/`, which all merchants of a service share. The environment’s own settings win. For your service begin with a copy of `specification.env`; no secrets in it.',
      text(),
    ),
    paymentsBaseUrl: setting(
      'The production address, {base_url} in the specification. Needed when the environment is `live`.',
      httpUrl(),
    ),
    paymentsSandboxUrl: setting(
      'The test address, {sandbox_url}. Needed when the environment is `sandbox`.',
      httpUrl(),
    ),
    paymentsEnvironment: setting(
      '`live` or `sandbox`. In the sandbox only the checkout paths differ.',
      oneOf(['live', 'sandbox']),
      'sandbox',
    ),
    paymentsAccountId: setting('The merchant account: header `accountId` of every protected call.', uuid()),
    paymentsParentAccountId: setting(
      'The parent account that issues tokens; the merchant account itself when absent.',
      uuid(),
    ),
    paymentsAccountName: setting(
      'What people call the account; shown on every message.',
      text(),
      'main account',
    ),
    paymentsTimeoutSeconds: setting(
      'Deadline of one call to the payments service, at most 25. After 30 seconds without an answer a charge is looked up.',
      wholeNumber(1, slowestAnswerSeconds),
      '8',
    ),

    paymentsTransactionIdParameter: setting(
      'Query parameter that looks a transaction up by the service’s own transaction id, like `transactionId`. For events whose signature covers that id and no order reference. Spec: not shown.',
      text(/^[\w.[\]-]{1,64}$/, 'the name of a query parameter, like transactionId'),
    ),
    paymentsPaidStatuses: setting(
      'Values of `status` in a transaction that mean paid, separated by commas, letter for letter.',
      statusList(),
      'SUCCESS',
    ),
    paymentsFinalStatuses: setting(
      'Values of `status` that are final and mean not paid, like `FAILED,CANCELLED`. Such a payment is told as that, and a charge in doubt does not wait any longer. List none that a customer can still pay after. Spec: not shown, so every other status proves nothing.',
      statusList(),
    ),
    paymentsGivenBackStatuses: setting(
      'Values of `status` of a payment whose whole money went back to its customer after it was paid, like `REFUNDED,REVERSED`. It is told as that: neither as paid nor as a charge that took no money. Spec: not shown.',
      statusList(),
    ),
    paymentsAmountPointer: setting(
      'Where a transaction says what the customer paid, as a JSON pointer into the record. With PAYMENTS_FEE_POINTER set too, the fee is taken off it, and what is left is held against the amount charged. Where it is not `/amount`, what is left may not be more than the record’s `/amount`, if it has one: so `/onlineCheckoutAmount` fits where `/amount` has a fee in it that no field tells.',
      pointer(),
      '/amount',
    ),
    paymentsFeePointer: setting(
      'Where a transaction says the fee that is inside that amount, like `/fee`. It is taken off what PAYMENTS_AMOUNT_POINTER leads to, never added: leave it out where the customer pays the amount and the fee comes on top elsewhere. Without it nothing is taken off. Spec: not shown.',
      pointer(),
    ),

    accountNewFields: setting(
      'What `/pay account new` asks for and sends: field names separated by commas. `!` marks what must be filled, `*` what is secret (`pin` and `bvn` are without a mark) and never stored or repeated; `:20` is an exact length, `:2-255` a range, `:virtual|physical` choices. The length of `accountRef` counts for `/pay account` too. Spec: the request’s fields are not shown, so these are the Account’s.',
      accountFields(),
      knownAccountFields,
    ),
  }),

  ...inGroup('Access token of the payments service', {
    paymentsStaticToken: secret('A ready access token. With it nothing is issued or refreshed.', text()),
    paymentsClientId: secret('Value of {{CLIENT_ID}} in the token bodies.', text()),
    paymentsClientSecret: secret('Value of {{CLIENT_SECRET}} in the token bodies.', text()),
    paymentsTokenIssueBody: setting(
      'JSON body of the issue request, with {{CLIENT_ID}}, {{CLIENT_SECRET}} or {{ACCOUNT_ID}} in it. Spec: not shown.',
      jsonTemplate(issuePlaces),
    ),
    paymentsTokenRefreshBody: setting(
      'JSON body of the refresh request; also {{REFRESH_TOKEN}} and {{ACCESS_TOKEN}}. Without it a new token is issued when one expires. Spec: not shown.',
      jsonTemplate([...issuePlaces, 'REFRESH_TOKEN', 'ACCESS_TOKEN']),
    ),
    paymentsTokenRevokeBody: setting(
      'JSON body of the revoke request, like the refresh body. Only `npm run revoke-token` sends it: replicas share the token. Spec: not shown.',
      jsonTemplate([...issuePlaces, 'REFRESH_TOKEN', 'ACCESS_TOKEN']),
    ),
    paymentsAccessTokenPointers: setting(
      'Where the access token stands in the answer: JSON pointers, the first that is there wins. Spec: not shown.',
      pointerList(),
      '/data/accessToken,/data/access_token,/data/token',
    ),
    paymentsRefreshTokenPointers: setting(
      'Where the refresh token stands. Spec: not shown.',
      pointerList(),
      '/data/refreshToken,/data/refresh_token',
    ),
    paymentsTokenExpiryPointers: setting(
      'Where the end of the token stands: a number of seconds, or an ISO 8601 or Unix time. Spec: not shown.',
      pointerList(),
      '/data/expiresIn,/data/expires_in,/data/expiresAt,/data/expires_at',
    ),
    paymentsTokenLifetimeSeconds: setting(
      'How long a token is taken to live when its answer does not say.',
      wholeNumber(30, 31_536_000),
      '1800',
    ),
  }),
};

/** The fields of the request that creates an account. */
function accountFields(): z.ZodType<AccountField[], string> {
  return made(list(), `must be ${accountFieldForm}`, parseAccountFields);
}

/** The settings' list; undefined when it is none, or names a field twice. */
export function parseAccountFields(items: readonly string[]): AccountField[] | undefined {
  const fields = items.map(parseField);
  if (fields.length === 0 || fields.length > mostFields) return undefined;
  if (!fields.every((field) => field !== undefined)) return undefined;
  return new Set(fields.map(({ name }) => name)).size === fields.length ? fields : undefined;
}

function parseField(item: string): AccountField | undefined {
  const [, name, marks = '', rule] = /^([A-Za-z]\w{0,63})(!?\*?|\*!)(?::(.+))?$/.exec(item) ?? [];
  if (name === undefined) return undefined;
  const isSecret = marks.includes('*') || secretByDefault.has(name.toLowerCase());
  // It is what an account is looked up by.
  if (isSecret && name === 'accountRef') return undefined;
  const field: AccountField = {
    name,
    required: marks.includes('!'),
    shortest: 0,
    longest: longestText,
    ...(isSecret ? { secret: true } : {}),
  };
  if (rule === undefined) return field;
  const [, least, dash, most] = /^(\d{1,4})(-?)(\d{0,4})$/.exec(rule) ?? [];
  // Half a range is a slip, not a choice of that name.
  if (least === undefined) return /^[\d-]+$/.test(rule) ? undefined : withChoices(field, rule);
  const shortest = Number(least);
  const longest = dash === '' ? shortest : Number(most);
  const isRange =
    (dash === '') === (most === '') && longest >= Math.max(shortest, 1) && longest <= longestText;
  return isRange ? { ...field, shortest, longest } : undefined;
}

function withChoices(field: AccountField, rule: string): AccountField | undefined {
  const choices = rule.split('|').map((choice) => choice.trim());
  const areGood = choices.every((choice) => choice !== '' && choice.length <= 75);
  return areGood && new Set(choices).size === choices.length && choices.length <= 100
    ? { ...field, choices }
    : undefined;
}
