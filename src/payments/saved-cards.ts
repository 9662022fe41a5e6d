import {
  type Rejected,
  type Unknown,
  askForEffect,
  rejectedFor,
  rejectionByCode,
  type Reply,
} from './effect-answer.ts';
import type { NotMade } from '../domain/failure.ts';
import type { EmailChange, SavedCard } from '../domain/card.ts';
import { type JsonObject, isJsonObject, valueAt, valueAtFirst, withoutUndefined } from '../domain/json.ts';
import type { Middleware } from 'openapi-fetch';
import type { Config } from '../config/config.ts';
import {
  sandboxDefaults,
  savedCardFields,
  type savedCardSettings,
  specifiedPointers,
} from '../config/saved-card-settings.ts';
import { variableName } from '../config/settings.ts';
import { withoutAuthorization, type PaymentsClient } from './client.ts';
import { failureOfAnswer, wordsOf } from './failures.ts';
import { fillTemplate } from './tokens.ts';
import { asObject, looseText } from './wire.ts';

const path = '/v1/checkout/tokenized-card-data';

/**
 * How saved cards are listed and deleted, by the settings.
 *
 * Spec: GET and DELETE tokenized-card-data exist, and their request and response shape is not shown.
 */
export type SavedCardShape = { [Key in keyof typeof savedCardSettings]: NonNullable<Config[Key]> };

/** A merchant account, and how its saved cards are listed and deleted. */
type CardAccount = { accountId: string; shape: SavedCardShape };

/** The most that one listing reads. */
const mostCards = 100;
const mostPages = 20;

/**
 * The saved cards of an e-mail, each once. Follows the list's cursor. `mayHaveMore`: reading stopped at a limit or at a
 * repeated cursor, or the only page has cards and neither it nor a setting says that no page follows. `not_found`: HTTP
 * 404, or code "01" or "404". Throws ServiceFailure for an unusable answer, which includes one without a list at the
 * settings' pointers.
 *
 * Spec: list saved cards by customer email (request and response shape: not shown, so settings); Limits (pagination).
 */
export async function listSavedCards(
  client: PaymentsClient,
  account: CardAccount,
  email: string,
): Promise<SavedCardsAnswer> {
  const cards: ServiceCard[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const page = await readPage(client, account, { email, cursor });
    if (page.kind !== 'page') return page;
    cards.push(...page.cards);
    ({ cursor } = page);
    const isDone =
      cursor === undefined || cursors.has(cursor) || cards.length >= mostCards || cursors.size >= mostPages;
    if (isDone) {
      // A later page without a cursor is the last, as in the service's other lists.
      const isWhole = cursor === undefined && (page.saysLast || cursors.size > 0 || cards.length === 0);
      return { kind: 'cards', cards: eachOnce(cards), ...(isWhole ? {} : { mayHaveMore: true }) };
    }
    if (cursor !== undefined) cursors.add(cursor);
  }
}

/** Removes repeated cards, because pages may overlap. Cards without a token can't be compared, so all stay. */
function eachOnce(cards: readonly ServiceCard[]): ServiceCard[] {
  const known = new Set<string>();
  return cards.filter(({ tokenKey }) => {
    if (tokenKey === undefined) return true;
    const isNew = !known.has(tokenKey);
    known.add(tokenKey);
    return isNew;
  });
}

type Page =
  /** `saysLast`: the page, or a setting, says that no page follows. */
  | { kind: 'page'; cards: readonly ServiceCard[]; cursor: string | undefined; saysLast: boolean }
  | Exclude<SavedCardsAnswer, { kind: 'cards' }>;

async function readPage(
  client: PaymentsClient,
  account: CardAccount,
  { email, cursor }: { email: string; cursor: string | undefined },
): Promise<Page> {
  const { shape } = account;
  const { savedCardsCursorQuery: cursorQuery } = shape;
  const query = {
    [shape.savedCardsQuery]: email,
    ...(cursor === undefined ? {} : { [cursorQuery]: cursor }),
  };
  const { answer, body } = await askSavedCards(client, account, query);
  const { status: httpStatus } = answer.response;
  const envelope = asObject(body);
  const code = looseText.parse(envelope?.['code']);
  if (httpStatus === 404 || code === '01' || code === '404') return { kind: 'not_found' };
  if (httpStatus === 400 || httpStatus === 422 || code === '400') {
    return { kind: 'refused', message: wordsOf(envelope) };
  }
  const records = code === undefined || code === '00' ? recordsIn(body, shape) : undefined;
  if (!records) {
    const missing =
      'The saved cards were answered without a list where SAVED_CARDS_LIST_POINTERS looks for one.';
    throw failureOfAnswer(answer, missing);
  }
  const cards = records.map((record) => readCard(record, shape));
  return { kind: 'page', cards, ...nextOf(body, shape) };
}

/** Makes one request and returns the raw answer. Throws ServiceFailure. */
export async function askSavedCards(
  client: PaymentsClient,
  account: CardAccount,
  query: Readonly<Record<string, string>>,
) {
  const answer = await client.GET(path, {
    ...headersOf(account),
    querySerializer: () => new URLSearchParams(query).toString(),
  });
  return { answer, body: (answer.data ?? answer.error) as unknown };
}

function nextOf(body: unknown, shape: SavedCardShape): { cursor: string | undefined; saysLast: boolean } {
  if (shape.savedCardsCursorQuery === 'none') return { cursor: undefined, saysLast: true };
  const pointer = shape.savedCardsCursorPointers.find((one) => valueAt(body, one) !== undefined);
  const found = looseText.parse(pointer === undefined ? undefined : valueAt(body, pointer));
  const cursor = found !== undefined && shape.savedCardsLastCursors.includes(found) ? undefined : found;
  return { cursor, saysLast: pointer !== undefined && cursor === undefined };
}

/**
 * Deletes a card, with one request. Only code "00" without any false is success. After `unknown` the card may be
 * deleted, so tell people. Never throws.
 *
 * Spec: delete a card (request and response shape: not shown, so settings and the envelope alone).
 */
export async function deleteSavedCard(
  client: PaymentsClient,
  account: CardAccount,
  { tokenKey, customerEmail }: CardToDelete,
): Promise<CardDeletionAnswer> {
  const values = { TOKEN_KEY: tokenKey, CUSTOMER_EMAIL: customerEmail, ACCOUNT_ID: account.accountId };
  const body = fillTemplate(account.shape.savedCardsDeleteBody, values);
  return await askForEffect({
    // The generated types have no body, as the specification doesn't give one.
    call: () => client.DELETE(path, { ...headersOf(account), body: body as never }),
    judge: judgeDeletion,
    secrets: [tokenKey],
  });
}

function judgeDeletion(reply: Reply) {
  const { isOk, code, status, message, description } = reply;
  if (isNoSuchCard(reply)) return { kind: 'no_such_card' } as const;
  if (isOk && (code === '400' || (code === '00' && status === false))) {
    return { kind: 'refused', message: message ?? description } as const;
  }
  return isOk && code === '00' && !reply.isDenied ? ({ kind: 'deleted' } as const) : undefined;
}

/** Also true for the rejection "Invalid card token". Spec: Saved card charge rejections. */
function isNoSuchCard({ isOk, httpStatus, code, status, message }: Reply): boolean {
  if (httpStatus === 404 || (isOk && (code === '404' || code === '01'))) return true;
  const isNo = code === '400' || (isOk && code === '00' && status === false);
  return isNo && status !== true && rejectedFor(message).reason === 'invalid_token';
}

function headersOf({ accountId, shape: { savedCardsHeaders: headers } }: CardAccount): {
  headers: Record<string, string>;
  middleware: Middleware[];
} {
  return {
    headers: headers.includes('accountId') ? { accountId } : {},
    middleware: headers.includes('Authorization') ? [] : [withoutAuthorization],
  };
}

/** The records of the first pointer that leads to a list, to a single card, or to null; undefined: none does. */
function recordsIn(body: unknown, shape: SavedCardShape): JsonObject[] | undefined {
  for (const pointer of shape.savedCardsListPointers) {
    const found = valueAt(body, pointer);
    if (found === null) return [];
    // Skipping a broken item would make the list look shorter.
    if (Array.isArray(found) && found.every(isJsonObject)) return found;
    if (isJsonObject(found) && textAt(found, shape.savedCardsFieldPointers.tokenKey) !== undefined)
      return [found];
  }
  return undefined;
}

function readCard(record: JsonObject, { savedCardsFieldPointers: pointers }: SavedCardShape): ServiceCard {
  return withoutUndefined(
    Object.fromEntries(savedCardFields.map((field) => [field, textAt(record, pointers[field])])),
  );
}

function textAt(record: JsonObject, pointers: readonly string[]): string | undefined {
  return looseText.parse(valueAtFirst(record, pointers));
}

/**
 * The service's answer to a change of a card's e-mail.
 *
 * Spec: change the email of a saved card.
 */
export type EmailChangeAnswer =
  | { kind: 'changed' }
  /** `currentEmail` is not the card's e-mail. Nothing was changed. */
  | { kind: 'not_linked'; message: string | undefined }
  | { kind: 'no_such_card' }
  | Rejected
  | NotMade
  | Unknown;

/**
 * Changes the e-mail linked to a saved card, never the card. The service then rejects charges with the old e-mail.
 * After `unknown` the e-mail may be changed, so tell people. Never throws.
 *
 * Spec: change the email of a saved card.
 */
export async function changeCardEmail(
  client: PaymentsClient,
  accountId: string,
  change: EmailChange,
): Promise<EmailChangeAnswer> {
  const { tokenKey, currentEmail: currentEmailAddress, newEmail: newEmailAddress } = change;
  return await askForEffect({
    call: () =>
      client.POST(path, {
        params: { header: { accountId } },
        body: { tokenKey, currentEmailAddress, newEmailAddress },
      }),
    judge: judgeChange,
    secrets: [tokenKey],
  });
}

function judgeChange(reply: Reply): EmailChangeAnswer | undefined {
  const { isOk, httpStatus, code, status, message } = reply;
  if (httpStatus === 404 || (isOk && code === '404')) return { kind: 'no_such_card' };
  const rejected = rejectionByCode(reply, status);
  if (rejected) return rejected;
  if (!isOk || code !== '00' || status === undefined) return undefined;
  return status ? { kind: 'changed' } : { kind: 'not_linked', message };
}

type SavedCardCalls =
  | {
      kind: 'ready';
      list: (email: string) => Promise<SavedCardsAnswer>;
      remove: (card: CardToDelete) => Promise<CardDeletionAnswer>;
    }
  | { kind: 'missing'; settings: string[] };

/**
 * The calls for saved cards. `missing`: the settings that the live environment needs for them; the sandbox has
 * defaults.
 */
export function createSavedCardCalls(
  config: Config,
  client: PaymentsClient,
  accountId: string,
): SavedCardCalls {
  const needed = Object.keys(sandboxDefaults) as (keyof typeof sandboxDefaults)[];
  const missing = needed.filter((key) => config[key] === undefined);
  if (config.paymentsEnvironment === 'live' && missing.length > 0) {
    return { kind: 'missing', settings: missing.map(variableName) };
  }
  const account = { accountId, shape: savedCardShape(config) };
  return {
    kind: 'ready',
    list: (email) => listSavedCards(client, account, email),
    remove: (card) => deleteSavedCard(client, account, card),
  };
}

/** The shape by the settings; for those left out, the sandbox's. */
export function savedCardShape(config: Config): SavedCardShape {
  const specified = { savedCardsFieldPointers: specifiedPointers };
  return { ...sandboxDefaults, ...specified, ...withoutUndefined(config) };
}

/** A card as listed; without a token key it can only be shown. */
export type ServiceCard = Partial<SavedCard>;

/** The service's answer to a request for a customer's saved cards. */
export type SavedCardsAnswer =
  | { kind: 'cards'; cards: readonly ServiceCard[]; mayHaveMore?: true }
  /** The service has no record of this e-mail. Not an error. */
  | { kind: 'not_found' }
  /** The service calls the request invalid, in its own words. */
  | { kind: 'refused'; message: string | undefined };

/** `tokenKey` is a secret. */
export type CardToDelete = { tokenKey: string; customerEmail: string };

/** The service's answer to a deletion. `no_such_card`: already deleted, or never saved. */
export type CardDeletionAnswer =
  | { kind: 'deleted' }
  | { kind: 'no_such_card' }
  | { kind: 'refused'; message: string | undefined }
  | NotMade
  | Unknown;
