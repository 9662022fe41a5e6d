import type { SavedCard } from '../domain/card.ts';
import type { z } from 'zod';
import { isJsonPointer, type JsonObject } from '../domain/json.ts';
import {
  inGroup,
  jsonObject,
  list,
  placeholdersIn,
  pointerList,
  text,
  setting,
  transformed,
} from './readers.ts';

/** The fields of a listed card, as JSON pointers within it; the first one found wins. */
type SavedCardPointers = Readonly<Record<keyof SavedCard, readonly string[]>>;

/** The headers of protected calls. Spec: not shown which of them listing and deleting cards need. */
const savedCardHeaders = ['Authorization', 'accountId'] as const;
type SavedCardHeader = (typeof savedCardHeaders)[number];

/** Defaults in the sandbox. In live `/pay cards` needs each of these settings. */
export const sandboxDefaults = {
  savedCardsQuery: 'customerEmail',
  savedCardsListPointers: [
    '/data/tokenizedCardDataList',
    '/data/tokenizedCardData',
    '/data/results',
    '/data',
  ],
  savedCardsHeaders: [...savedCardHeaders],
  savedCardsDeleteBody: { tokenKey: '{{TOKEN_KEY}}' },
};

/** The specification's names for a saved card's fields. Spec: Saved card. */
export const specifiedPointers: SavedCardPointers = {
  tokenKey: ['/tokenKey'],
  cardType: ['/cardType'],
  tokenExpiryDate: ['/tokenExpiryDate'],
  cardPan: ['/cardPan'],
  customerEmail: ['/customerEmail'],
};

export const savedCardFields = Object.keys(specifiedPointers) as (keyof SavedCard)[];

/** How the service's saved cards are listed and deleted. */
export const savedCardSettings = inGroup('Saved cards', {
  savedCardsQuery: setting(
    'Query parameter for the customer’s e-mail. In a sandbox `customerEmail`. Spec: not shown.',
    text(/^[\w.[\]-]{1,64}$/, 'the name of a query parameter, like customerEmail'),
  ),
  savedCardsListPointers: setting(
    `JSON pointers to the list in the answer; the first that leads to one wins. In a sandbox \`${sandboxDefaults.savedCardsListPointers.join(',')}\`. Spec: not shown.`,
    pointerList(),
  ),
  savedCardsCursorPointers: setting(
    'JSON pointers to the next page’s cursor. Spec: not shown.',
    pointerList(),
    '/data/cursor,/cursor',
  ),
  savedCardsCursorQuery: setting(
    'Query parameter that takes the cursor; `none` if the list comes in one piece. Spec: not shown.',
    text(/^[\w.[\]-]{1,64}$/, 'the name of a query parameter, like cursor, or none'),
    'cursor',
  ),
  savedCardsLastCursors: setting(
    'Cursors that mean the last page, besides an empty one and null: `0`, `-1`, `false`. Spec: not shown.',
    list(),
    '',
  ),
  savedCardsFieldPointers: setting(
    'JSON object of a card’s fields to JSON pointers within it; others are as in the specification’s Saved card.',
    fieldPointers(),
  ),
  savedCardsHeaders: setting(
    'Headers of listing and deleting: `Authorization,accountId`, one of them, or `none`. In a sandbox both. Spec: not shown.',
    headerList(),
  ),
  savedCardsDeleteBody: setting(
    'JSON body that deletes a card, with {{TOKEN_KEY}}, and {{CUSTOMER_EMAIL}} or {{ACCOUNT_ID}}. In a sandbox `{"tokenKey":"{{TOKEN_KEY}}"}`. Spec: not shown.',
    deleteBody(),
  ),
});

function headerList(): z.ZodType<SavedCardHeader[], string> {
  return transformed(list(), 'must be Authorization, accountId, both, or none', (names) => {
    if (names.length === 1 && names[0]?.toLowerCase() === 'none') return [];
    const found = names
      .map((name) => savedCardHeaders.find((header) => header.toLowerCase() === name.toLowerCase()))
      .filter((header) => header !== undefined);
    return found.length > 0 && found.length === names.length ? [...new Set(found)] : undefined;
  });
}

function fieldPointers(): z.ZodType<SavedCardPointers, string> {
  const words = `must be a JSON object of ${savedCardFields.join(', ')} to JSON pointers, like {"cardPan":"/last4"}`;
  return transformed(jsonObject(), words, (given) => {
    const read = Object.entries(given).map(([name, value]) => [name, pointersIn(value)] as const);
    const isGood = read.every(
      ([name, pointers]) => savedCardFields.some((field) => field === name) && pointers !== undefined,
    );
    return isGood ? { ...specifiedPointers, ...Object.fromEntries(read) } : undefined;
  });
}

function pointersIn(value: unknown): string[] | undefined {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  const pointers = all.filter((one) => typeof one === 'string' && one !== '' && isJsonPointer(one));
  return pointers.length > 0 && pointers.length === all.length ? (pointers as string[]) : undefined;
}

const deletePlaceholders = ['TOKEN_KEY', 'CUSTOMER_EMAIL', 'ACCOUNT_ID'];

/**
 * The body must have a placeholder for the card: without it the service might delete another one. Unknown placeholders
 * are refused: they would be sent unfilled.
 */
function deleteBody(): z.ZodType<JsonObject, string> {
  return jsonObject().refine(
    (body) => {
      const names = placeholdersIn(body);
      return names.includes('TOKEN_KEY') && names.every((name) => deletePlaceholders.includes(name));
    },
    {
      error:
        'must be a JSON object with {{TOKEN_KEY}} in a value, like {"tokenKey":"{{TOKEN_KEY}}"}, and no other places than {{CUSTOMER_EMAIL}} and {{ACCOUNT_ID}}',
    },
  );
}
