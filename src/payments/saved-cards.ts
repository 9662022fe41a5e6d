import { type Rejected, type Unknown, askForEffect, rejectedFor, type Told } from './effect-answer.ts';
import type { NotMade } from '../domain/failure.ts';
import type { EmailChange, SavedCard } from '../domain/card.ts';
import { type JsonObject, isJsonObject, valueAt, valueAtFirst, withoutUndefined } from '../domain/json.ts';
import type { Middleware } from 'openapi-fetch';
import type { Config } from '../config/config.ts';
import {
  sandboxShape,
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

/** Whose account it is, and how it lists and deletes. */
type SavedCardsOf = { accountId: string; shape: SavedCardShape };

/** As many as one listing keeps; nobody reads further. */
const enoughCards = 100;
const enoughPages = 20;

/**
 * The cards that are saved for an e-mail, each once, read on by the list's own cursor as the service's other lists are:
 * there may be more unless a page says that it is the last, or the list is known to come in one piece. `not_found` is HTTP 404, or code "01" or "404". A list that stands nowhere the settings point is no empty one: that
 * throws ServiceFailure, as every answer does that cannot be used.
 *
 * Spec: list saved cards by customer email (request and response shape: not shown, so settings); Limits (pagination).
 */
export async function listSavedCards(
  client: PaymentsClient,
  of: SavedCardsOf,
  email: string,
): Promise<SavedCardsAnswer> {
  const told: ToldCard[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const page = await readPage(client, of, { email, cursor });
    if (page.kind !== 'page') return page;
    told.push(...page.cards);
    ({ cursor } = page);
    const isRead =
      cursor === undefined ||
      cursors.has(cursor) ||
      told.length >= enoughCards ||
      cursors.size >= enoughPages;
    if (isRead) {
      // A later page without a cursor is the last one: that is how the service's other lists end.
      const isWhole = cursor === undefined && (page.saysLast || cursors.size > 0 || told.length === 0);
      return { kind: 'cards', cards: eachOnce(told), ...(isWhole ? {} : { mayHaveMore: true }) };
    }
    if (cursor !== undefined) cursors.add(cursor);
  }
}

/** A page may begin with what the one before ended with. Cards without a token can't be told apart, and all stay. */
function eachOnce(told: readonly ToldCard[]): ToldCard[] {
  const known = new Set<string>();
  return told.filter(({ tokenKey }) => {
    if (tokenKey === undefined) return true;
    const isNew = !known.has(tokenKey);
    known.add(tokenKey);
    return isNew;
  });
}

type Page =
  /** `saysLast`: no page follows, as it says itself or a setting does. */
  | { kind: 'page'; cards: readonly ToldCard[]; cursor: string | undefined; saysLast: boolean }
  | Exclude<SavedCardsAnswer, { kind: 'cards' }>;

async function readPage(
  client: PaymentsClient,
  of: SavedCardsOf,
  { email, cursor }: { email: string; cursor: string | undefined },
): Promise<Page> {
  const { shape } = of;
  const { savedCardsCursorQuery: cursorQuery } = shape;
  const query = {
    [shape.savedCardsQuery]: email,
    ...(cursor === undefined ? {} : { [cursorQuery]: cursor }),
  };
  const { answer, body } = await askSavedCards(client, of, query);
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

/** One question, and what came of it, unread. Throws ServiceFailure as any call does. */
export async function askSavedCards(
  client: PaymentsClient,
  of: SavedCardsOf,
  query: Readonly<Record<string, string>>,
) {
  const answer = await client.GET(path, {
    ...headersOf(of),
    querySerializer: () => new URLSearchParams(query).toString(),
  });
  return { answer, body: (answer.data ?? answer.error) as unknown };
}

function nextOf(body: unknown, shape: SavedCardShape): { cursor: string | undefined; saysLast: boolean } {
  if (shape.savedCardsCursorQuery === 'none') return { cursor: undefined, saysLast: true };
  const pointer = shape.savedCardsCursorPointers.find((one) => valueAt(body, one) !== undefined);
  const told = looseText.parse(pointer === undefined ? undefined : valueAt(body, pointer));
  const cursor = told !== undefined && shape.savedCardsLastCursors.includes(told) ? undefined : told;
  return { cursor, saysLast: pointer !== undefined && cursor === undefined };
}

/**
 * Asks for the deletion of a card, once. Only code "00" that is not contradicted says that it is done; `unknown` has
 * to be told, for it may have been. Never throws.
 *
 * Spec: delete a card (request and response shape: not shown, so settings and the envelope alone).
 */
export async function deleteSavedCard(
  client: PaymentsClient,
  of: SavedCardsOf,
  { tokenKey, customerEmail }: CardToDelete,
): Promise<CardDeletionAnswer> {
  const { middleware, ...headers } = headersOf(of);
  const values = { TOKEN_KEY: tokenKey, CUSTOMER_EMAIL: customerEmail, ACCOUNT_ID: of.accountId };
  const body = fillTemplate(of.shape.savedCardsDeleteBody, values);
  return await askForEffect({
    call: () => client.DELETE(path, { ...headers, middleware: [carrying(body), ...middleware] }),
    judge: judgeDeletion,
    secrets: [tokenKey],
  });
}

function judgeDeletion(told: Told) {
  const { isOk, code, status, message, description } = told;
  if (isNoSuchCard(told)) return { kind: 'no_such_card' } as const;
  if (isOk && (code === '400' || (code === '00' && status === false))) {
    return { kind: 'refused', message: message ?? description } as const;
  }
  return isOk && code === '00' && !told.isDenied ? ({ kind: 'deleted' } as const) : undefined;
}

/** Or its token has no card behind it, in the words that the specification gives to that. Spec: Saved card charge rejections. */
function isNoSuchCard({ isOk, httpStatus, code, status, message }: Told): boolean {
  if (httpStatus === 404 || (isOk && (code === '404' || code === '01'))) return true;
  const isNo = code === '400' || (isOk && code === '00' && status === false);
  return isNo && status !== true && rejectedFor(message).reason === 'invalid_token';
}

function headersOf({ accountId, shape: { savedCardsHeaders: headers } }: SavedCardsOf): {
  headers: Record<string, string>;
  middleware: Middleware[];
} {
  return {
    headers: headers.includes('accountId') ? { accountId } : {},
    middleware: headers.includes('Authorization') ? [] : [withoutAuthorization],
  };
}

/** The generated types know of no body here, as the specification shows none. */
function carrying(body: JsonObject): Middleware {
  return {
    onRequest({ request }) {
      const headers = new Headers(request.headers);
      headers.set('Content-Type', 'application/json');
      return new Request(request, { method: 'DELETE', body: JSON.stringify(body), headers });
    },
  };
}

/** The records of the first pointer that leads to a list, to one card where a list could come, or to null; undefined: none does. */
function recordsIn(body: unknown, shape: SavedCardShape): JsonObject[] | undefined {
  for (const pointer of shape.savedCardsListPointers) {
    const found = valueAt(body, pointer);
    if (found === null) return [];
    // A list with something else among its cards would seem shorter than it is.
    if (Array.isArray(found) && found.every(isJsonObject)) return found;
    if (isJsonObject(found) && textAt(found, shape.savedCardsFieldPointers.tokenKey) !== undefined)
      return [found];
  }
  return undefined;
}

function readCard(record: JsonObject, { savedCardsFieldPointers: pointers }: SavedCardShape): ToldCard {
  return withoutUndefined(
    Object.fromEntries(savedCardFields.map((field) => [field, textAt(record, pointers[field])])),
  );
}

function textAt(record: JsonObject, pointers: readonly string[]): string | undefined {
  return looseText.parse(valueAtFirst(record, pointers));
}

/**
 * What the service answered to a change of a card's e-mail.
 *
 * Spec: change the email of a saved card.
 */
export type EmailChangeAnswer =
  | { kind: 'changed' }
  /** `currentEmail` is not the e-mail linked to the card: nothing was changed. */
  | { kind: 'not_linked'; message: string | undefined }
  | { kind: 'no_such_card' }
  | Rejected
  | NotMade
  | Unknown;

/**
 * Changes the e-mail linked to a saved card, never the card. Charges with the old e-mail are rejected from
 * then on, so `unknown` has to be told: the change may have been made. Never throws.
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

function judgeChange({ isOk, httpStatus, code, status, message }: Told): EmailChangeAnswer | undefined {
  if (httpStatus === 404 || (isOk && code === '404')) return { kind: 'no_such_card' };
  if (code === '400' && status === false) return rejectedFor(message);
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

/** What an environment's saved cards are asked for with. */
export function createSavedCardCalls(
  config: Config,
  client: PaymentsClient,
  accountId: string,
): SavedCardCalls {
  const needed = Object.keys(sandboxShape) as (keyof typeof sandboxShape)[];
  const missing = needed.filter((key) => config[key] === undefined);
  if (config.paymentsEnvironment === 'live' && missing.length > 0) {
    return { kind: 'missing', settings: missing.map(variableName) };
  }
  const of = { accountId, shape: savedCardShape(config) };
  return {
    kind: 'ready',
    list: (email) => listSavedCards(client, of, email),
    remove: (card) => deleteSavedCard(client, of, card),
  };
}

/** By the settings, and what the sandbox has where they say nothing. */
export function savedCardShape(config: Config): SavedCardShape {
  const specified = { savedCardsFieldPointers: specifiedPointers };
  return { ...sandboxShape, ...specified, ...withoutUndefined(config) };
}

/** A card as the list told it; without a token key it can be shown and nothing else. */
export type ToldCard = Partial<SavedCard>;

/** What the service answered to the wish for a customer's saved cards. */
export type SavedCardsAnswer =
  | { kind: 'cards'; cards: readonly ToldCard[]; mayHaveMore?: true }
  /** The service has no record for this e-mail: an answer, and no error. */
  | { kind: 'not_found' }
  /** The service found the request invalid, in its own words. */
  | { kind: 'refused'; message: string | undefined };

/** A saved card to be deleted. `tokenKey` is a secret. */
export type CardToDelete = { tokenKey: string; customerEmail: string };

/** What the service answered to the deletion of a card. `no_such_card`: it is gone already, or was never there. */
export type CardDeletionAnswer =
  | { kind: 'deleted' }
  | { kind: 'no_such_card' }
  | { kind: 'refused'; message: string | undefined }
  | NotMade
  | Unknown;
