import type { NotMade, Unknown } from './charge-answer.ts';
import type { JsonObject } from './json-pointer.ts';
import type { SavedCard } from './saved-card.ts';

export const savedCardFields = [
  'tokenKey',
  'cardType',
  'tokenExpiryDate',
  'cardPan',
  'customerEmail',
] as const satisfies (keyof SavedCard)[];

/** Where the fields of a listed card stand within it, as JSON pointers; the first that is there wins. */
export type SavedCardPointers = Readonly<Record<(typeof savedCardFields)[number], readonly string[]>>;

/** The headers that protected calls take; which of them these two methods take is not shown. */
export const savedCardHeaders = ['Authorization', 'accountId'] as const;
export type SavedCardHeader = (typeof savedCardHeaders)[number];

/**
 * How saved cards are listed and deleted, whole.
 *
 * Spec: GET and DELETE tokenized-card-data exist, and their request and response shape is not shown.
 */
export type SavedCardShape = {
  /** The query parameter that carries the customer's e-mail. */
  emailParameter: string;
  listPointers: readonly string[];
  /** Where the next page's cursor stands in the answer; it is sent back as `cursor`. */
  cursorPointers: readonly string[];
  fieldPointers: SavedCardPointers;
  headers: readonly SavedCardHeader[];
  /** With `{{TOKEN_KEY}}` somewhere, `{{CUSTOMER_EMAIL}}` and `{{ACCOUNT_ID}}` where they are wanted. */
  deleteBody: JsonObject;
};

/** The sandbox's shape where a setting says no other. */
export const sandboxShape = {
  emailParameter: 'customerEmail',
  listPointers: ['/data/tokenizedCardDataList', '/data/tokenizedCardData', '/data/results', '/data'],
  cursorPointers: ['/data/cursor', '/cursor'],
  headers: savedCardHeaders,
  deleteBody: { tokenKey: '{{TOKEN_KEY}}' },
} as const satisfies Omit<SavedCardShape, 'fieldPointers'>;

/** The names that the specification gives a saved card's fields, everywhere. Spec: Saved card. */
export const specifiedPointers: SavedCardPointers = {
  tokenKey: ['/tokenKey'],
  cardType: ['/cardType'],
  tokenExpiryDate: ['/tokenExpiryDate'],
  cardPan: ['/cardPan'],
  customerEmail: ['/customerEmail'],
};

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
