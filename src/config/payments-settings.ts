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
  transformed,
} from './readers.ts';

/**
 * One field of the request that creates an account, as the setting describes it. Lengths are in
 * code points. With `choices` no other value is valid.
 */
type AccountField = {
  name: string;
  required: boolean;
  shortest: number;
  longest: number;
  choices?: readonly string[];
  /** Only sent: never prefilled, stored or shown. */
  secret?: true;
};

/**
 * The fields of an Account that a person enters, with the specification's constraints. Only a default: the
 * specification doesn't show the fields of the request itself.
 *
 * Spec: Account (constraints); CreateAccountRequest: not shown.
 */
export const knownAccountFields =
  'accountName!:2-255,accountRef:20,type:virtual|physical,currency:NGN,phoneNumber,email,bvn:11,address:0-255,description';

/**
 * The longest allowed timeout: an answer must arrive, and be stored, before the bot gives up on it and looks the charge
 * up.
 */
const slowestAnswerSeconds = chargeLimits.answerMs / 1_000 - 5;

const issuePlaceholders = ['CLIENT_ID', 'CLIENT_SECRET', 'ACCOUNT_ID'];

const secretByDefault: ReadonlySet<string> = new Set(['pin', 'bvn']);

/** More fields don't fit into one modal. */
const mostFields = 30;
const longestText = 3_000;

/** The setting's format, for error messages. */
const accountFieldFormat =
  'field names separated by commas, each with ! when it must be filled and * when it is secret, and :20 for an exact length, :2-255 for a range or :virtual|physical for choices';

/** The address of the payments service, and the credentials. */
export const paymentsSettings = {
  ...inGroup('Payments service', {
    paymentsService: setting(
      'A set of settings in `openapi/services/`; the environment wins. Begin with a copy of `specification.env`.',
      text(),
    ),
    paymentsBaseUrl: setting('Production address, for `live`, without /v1.', httpUrl()),
    paymentsSandboxUrl: setting('Test address, for `sandbox`, without /v1.', httpUrl()),
    paymentsEnvironment: setting('`live` or `sandbox`.', oneOf(['live', 'sandbox']), 'sandbox'),
    paymentsAccountId: setting('The merchant account: header `accountId`.', uuid()),
    paymentsParentAccountId: setting('The parent account that issues tokens, if another.', uuid()),
    paymentsAccountName: setting('The account’s name on every message.', text(), 'main account'),
    paymentsTimeoutSeconds: setting(
      'Deadline of one call, at most 25.',
      wholeNumber(1, slowestAnswerSeconds),
      '8',
    ),

    paymentsTransactionIdParameter: setting(
      'Query parameter that finds a transaction by the service’s own id. For events whose signature covers that id, not the order reference. Spec: not shown.',
      text(/^[\w.[\]-]{1,64}$/, 'the name of a query parameter, like transactionId'),
    ),
    paymentsPaidStatuses: setting(
      'Values of `status` that mean paid, letter for letter.',
      statusList(),
      'SUCCESS',
    ),
    paymentsFinalStatuses: setting(
      'Values of `status` that are final and mean not paid, like `FAILED,CANCELLED`. They end a charge in doubt at once: list none that a customer can still pay after. Spec: not shown.',
      statusList(),
    ),
    paymentsGivenBackStatuses: setting(
      'Values of `status` of a payment that went back whole, like `REFUNDED,REVERSED`. Spec: not shown.',
      statusList(),
    ),
    paymentsAmountPointer: setting(
      'JSON pointer to what the customer paid. Less PAYMENTS_FEE_POINTER, it must be the amount charged. Elsewhere it may not exceed the record’s `/amount`: `/onlineCheckoutAmount` fits if `/amount` hides a fee.',
      pointer(),
      '/amount',
    ),
    paymentsFeePointer: setting(
      'JSON pointer to the fee inside that amount, like `/fee`. Leave it out if the fee comes on top. Spec: not shown.',
      pointer(),
    ),

    accountNewFields: setting(
      'Fields that `/pay account new` asks for. `!`: required; `*`: secret, never stored (`pin` and `bvn` always are); `:20`: exact length, `:2-255`: range, `:virtual|physical`: choices. Spec: not shown; these are the Account’s.',
      accountFields(),
      knownAccountFields,
    ),
  }),

  ...inGroup('Access token of the payments service', {
    paymentsStaticToken: secret('A ready access token; nothing is issued then.', text()),
    paymentsClientId: secret('Value of {{CLIENT_ID}} in the token bodies.', text()),
    paymentsClientSecret: secret('Value of {{CLIENT_SECRET}} in the token bodies.', text()),
    paymentsTokenIssueBody: setting(
      'JSON body that issues a token, with {{CLIENT_ID}}, {{CLIENT_SECRET}} or {{ACCOUNT_ID}}. Spec: not shown.',
      jsonTemplate(issuePlaceholders),
    ),
    paymentsTokenRefreshBody: setting(
      'JSON body that refreshes one; also {{REFRESH_TOKEN}} and {{ACCESS_TOKEN}}. Without it a new one is issued. Spec: not shown.',
      jsonTemplate([...issuePlaceholders, 'REFRESH_TOKEN', 'ACCESS_TOKEN']),
    ),
    paymentsTokenRevokeBody: setting(
      'JSON body that revokes one, for `npm run revoke-token`. Spec: not shown.',
      jsonTemplate([...issuePlaceholders, 'REFRESH_TOKEN', 'ACCESS_TOKEN']),
    ),
    paymentsAccessTokenPointers: setting(
      'JSON pointers to the access token in the answer; the first that is there wins. Spec: not shown.',
      pointerList(),
      '/data/accessToken,/data/access_token,/data/token',
    ),
    paymentsRefreshTokenPointers: setting(
      'The same for the refresh token. Spec: not shown.',
      pointerList(),
      '/data/refreshToken,/data/refresh_token',
    ),
    paymentsTokenExpiryPointers: setting(
      'The same for the access token’s expiry: seconds, or an ISO 8601 or Unix time. Spec: not shown.',
      pointerList(),
      '/data/expiresIn,/data/expires_in,/data/expiresAt,/data/expires_at',
    ),
    paymentsTokenLifetimeSeconds: setting(
      'A token’s lifetime if its answer doesn’t say.',
      wholeNumber(30, 31_536_000),
      '1800',
    ),
  }),
};

function accountFields(): z.ZodType<AccountField[], string> {
  return transformed(list(), `must be ${accountFieldFormat}`, parseAccountFields);
}

/** The parsed list; undefined if invalid or if a field repeats. */
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
  // A secret is not stored, but the bot must look the new account up by its accountRef.
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
  // `2-` is an incomplete range, not a choice called `2-`.
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
