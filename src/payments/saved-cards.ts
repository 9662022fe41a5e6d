import type { Middleware } from 'openapi-fetch';
import { ServiceFailure } from '../domain/failure.ts';
import { isJsonObject, valueAt, valueAtFirst, type JsonObject } from '../domain/json-pointer.ts';
import {
  savedCardFields,
  type CardDeletionAnswer,
  type CardToDelete,
  type SavedCardsAnswer,
  type SavedCardShape,
  type ToldCard,
} from '../domain/saved-card-list.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { PaymentsClient } from './client.ts';
import { askForEffect, rejectedFor, type Told } from './effect-answer.ts';
import { fillTemplate } from './token-body.ts';
import { withoutAuthorization } from './tokenless.ts';
import { asObject, looseText } from './wire.ts';

const path = '/v1/checkout/tokenized-card-data';

/** Whose account it is, and how it lists and deletes. */
export type SavedCardsOf = { accountId: string; shape: SavedCardShape };

/**
 * The cards that are saved for an e-mail. `not_found` is HTTP 404, or code "01" or "404". A list that stands nowhere
 * the settings point is no empty one: that throws ServiceFailure, as every answer does that cannot be used.
 *
 * Spec: list saved cards by customer email (request and response shape: not shown, so settings).
 */
export async function listSavedCards(
  client: PaymentsClient,
  of: SavedCardsOf,
  email: string,
): Promise<SavedCardsAnswer> {
  const { shape } = of;
  const { data, error, response } = await client.GET(path, {
    ...headersOf(of),
    querySerializer: () => new URLSearchParams({ [shape.emailParameter]: email }).toString(),
  });
  const { status: httpStatus } = response;
  const body: unknown = data ?? error;
  const envelope = asObject(body);
  const code = looseText.parse(envelope?.['code']);
  if (httpStatus === 404 || code === '01' || code === '404') return { kind: 'not_found' };
  if (httpStatus === 400 || code === '400') {
    return { kind: 'refused', message: looseText.parse(envelope?.['description']) };
  }
  const records = recordsIn(body, shape);
  if (!records || (code !== undefined && code !== '00')) {
    const message =
      'The saved cards were answered without a list where SAVED_CARDS_LIST_POINTERS looks for one.';
    throw new ServiceFailure('malformed', message, { httpStatus });
  }
  return { kind: 'cards', cards: records.map((record) => readCard(record, shape)) };
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
  const body = fillTemplate(of.shape.deleteBody, values);
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

function headersOf({ accountId, shape: { headers } }: SavedCardsOf): {
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
function recordsIn(body: unknown, { listPointers, fieldPointers }: SavedCardShape): JsonObject[] | undefined {
  for (const pointer of listPointers) {
    const found = valueAt(body, pointer);
    if (found === null) return [];
    // A list with something else among its cards would seem shorter than it is.
    if (Array.isArray(found) && found.every(isJsonObject)) return found;
    if (isJsonObject(found) && textAt(found, fieldPointers.tokenKey) !== undefined) return [found];
  }
  return undefined;
}

function readCard(record: JsonObject, { fieldPointers }: SavedCardShape): ToldCard {
  return withoutUndefined(
    Object.fromEntries(savedCardFields.map((field) => [field, textAt(record, fieldPointers[field])])),
  );
}

function textAt(record: JsonObject, pointers: readonly string[]): string | undefined {
  return looseText.parse(valueAtFirst(record, pointers));
}
