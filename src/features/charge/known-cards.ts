import type { CardHold } from '../../domain/card-refusal.ts';
import type { ShownCardEmail } from '../../domain/card-email.ts';
import type { CardFace } from '../../domain/charge-terms.ts';
import type { Choice } from '../../slack/kit/blocks.ts';
import type { CardEmailModalOptions } from '../card-email/card-email-views.ts';
import { cardWords, holdNote } from '../../slack/words/card-words.ts';
import { limits } from '../../slack/kit/limits.ts';

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

/** What a form says that cannot be filled in again whole. */
export const pasteAgainWords = 'Paste the token key again: it is a secret, and the form does not keep it.';

/** The form of a change of a card's e-mail as it was, but for a token key of a card that the bot does not know. */
export async function filledAgain(
  ledger: KnownCards | undefined,
  id: string,
  { currentEmail, newEmail }: Pick<ShownCardEmail, 'currentEmail' | 'newEmail'>,
): Promise<Pick<CardEmailModalOptions, 'prefill' | 'problem'>> {
  const card = await ledger?.find(id);
  if (!card) return { prefill: { currentEmail, newEmail }, problem: pasteAgainWords };
  return { prefill: { card: cardChoice(card), currentEmail, newEmail } };
}

/** As a person tells it from the customer's other cards. */
export function cardChoice({ id, face, customerEmail }: KnownCard): { id: string; text: string } {
  return { id, text: cardWords(face, customerEmail) };
}

/**
 * What a typeahead over saved cards offers, each with why it can't be charged now where `holdOf` says that; nothing
 * when none are remembered.
 */
export async function suggestCards(
  ledger: KnownCards | undefined,
  typed: string,
  holdOf?: (id: string) => Promise<CardHold | undefined>,
): Promise<Choice[]> {
  const found = (await ledger?.search(typed, limits.options)) ?? [];
  return await Promise.all(
    found.map(async ({ id, face, customerEmail }) => {
      const hold = await holdOf?.(id);
      return { text: cardWords(face, customerEmail, hold && holdNote(hold)), value: id };
    }),
  );
}
