import type { CardFace } from '../../domain/charge-terms.ts';
import { cardWords } from '../../slack/charge/card-words.ts';

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

/** As a person tells it from the customer's other cards. */
export function cardChoice({ id, face, customerEmail }: KnownCard): { id: string; text: string } {
  return { id, text: cardWords(face, customerEmail) };
}
