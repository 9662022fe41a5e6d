import { holdsCardNumber } from './card-number.ts';
import type { CardFace } from './charge.ts';
import { withoutUndefined } from './without-undefined.ts';
/**
 * A saved card as an event or a listing told it. `tokenKey` can charge the card: it is kept sealed, and
 * never logged, shown or put into a Slack payload.
 *
 * Spec: Saved card (tokenized card data); the formats of expiry and pan: not shown.
 */
export type SavedCard = {
  tokenKey: string;
  cardType?: string;
  tokenExpiryDate?: string;
  cardPan?: string;
  customerEmail?: string;
};

/**
 * What may be shown of a saved card. Of the number never more than its last four digits, whether it came
 * masked, cut short or whole against the spec's promise; none when it does not end in four digits, because
 * wrong ones would make a person charge another card.
 *
 * Spec: Saved card; the format of cardPan and the values of cardType: not shown.
 */
export function faceOf(card: SavedCard): CardFace {
  const cardType = card.cardType?.trim();
  return withoutUndefined({
    cardType: cardType && !holdsCardNumber(cardType) ? cardType : undefined,
    lastFour: card.cardPan === undefined ? undefined : lastFourOf(card.cardPan),
  });
}

function lastFourOf(cardPan: string): string | undefined {
  const plain = cardPan.normalize('NFKC').replace(/[\s\p{Pd}\p{Cf}._/]+/gu, '');
  return /\d{4}$/.exec(plain)?.[0];
}

/**
 * What became of the card that a first payment saved; of its token nothing is here, so it may be stored and shown.
 * `not_kept`: the bot remembers no cards, by its settings. `no_token`: the event says that it is a card-saving
 * payment and carries no token that can be used.
 *
 * Spec: Events, tokenizedCardData and rule 3.
 */
export type CardSaved = { kind: 'kept' | 'not_kept'; face: CardFace } | { kind: 'no_token' };

/** A saved card as it may be offered. `id` is a keyed hash: it names the card and charges nothing. */
export type KnownCard = { id: string; face: CardFace; customerEmail?: string };

/** The cards that the bot remembers; all of it throws StoreUnavailable. */
export type KnownCards = {
  /** Newest first. */
  search(typed: string, max: number): Promise<readonly KnownCard[]>;
  find(id: string): Promise<(KnownCard & { tokenKey: string }) | undefined>;
  /** The id that the card of this token has, known or not. */
  idOf(tokenKey: string): Promise<string>;
};

/** The same for whoever changes the e-mails they are saved with. */
export type KnownCardEmails = Pick<KnownCards, 'idOf'> & {
  /** The service has linked the card to another address. */
  changeEmail(id: string, newEmail: string): Promise<void>;
  /** The service has said that the card is not linked to this address. */
  forgetEmail(id: string, wrongEmail: string): Promise<void>;
};

/** How long what was reviewed can be agreed to. */
export const draftKeepMs = 30 * 60_000;
