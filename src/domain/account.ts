import type { NotMade, Unknown } from './charge-answer.ts';
import { parsed, problem, type Parsed } from './wording.ts';

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
  /** As the service answered, or a look-up by its reference found after a lost answer. */
  | { kind: 'created'; account: Account | undefined }
  | NotMade
  /**
   * It may have been created. What a look-up by its reference found since: nothing, another account, no answer; or
   * none could be made, because it has no reference.
   */
  | { kind: 'doubt'; lookUp: 'not_found' | 'another' | 'failed' | 'impossible' };

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
  const forms = `A reference has ${lengthWords(length)}, an account id 36.`;
  return problem(count === 0 ? `An account is missing. ${forms}` : `${forms} This has ${count}.`);
}

export type Length = { shortest: number; longest: number };

/**
 * One field of the request that creates an account, as the settings name it. Lengths count characters as people see
 * them. With `choices` nothing else is taken.
 */
export type AccountField = {
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

/** What an account is looked up by. */
export const refField = 'accountRef';
const secretByDefault: ReadonlySet<string> = new Set(['pin', 'bvn']);

/** A modal has room for no more beside its own lines. */
const mostFields = 30;
const longestText = 3_000;

/** What the settings' form is, for whoever wrote it wrong. */
export const accountFieldForm =
  'field names separated by commas, each with ! when it must be filled and * when it is secret, and :20 for an exact length, :2-255 for a range or :virtual|physical for choices';

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
  if (isSecret && name === refField) return undefined;
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

/** "20 characters", "2 to 255 characters". */
export function lengthWords({ shortest, longest }: Length): string {
  if (shortest === longest) return `${longest} characters`;
  return shortest === 0 ? `at most ${longest} characters` : `${shortest} to ${longest} characters`;
}

/** The settings ask for no length: what is left is what a form can hold. */
export function isAnyLength({ shortest, longest }: Length): boolean {
  return shortest === 0 && longest === longestText;
}

/** How long a reference is, for the form and the look-up alike; any length where the form has none or says none. */
export function refLength(fields: readonly AccountField[]): Length {
  return fields.find(({ name }) => name === refField) ?? { shortest: 0, longest: longestText };
}
