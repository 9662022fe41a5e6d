import { randomBytes } from 'node:crypto';
import type { SavedCard } from '../../domain/saved-card.ts';
import type { CardBehaviour } from './bank.ts';

export type StoredCard = Required<SavedCard> & {
  label: string;
  /** The merchant account that saved it; no other may charge it. */
  accountId: string;
  behaviour: CardBehaviour;
};

export type Cards = {
  add: (card: StoredCard) => void;
  /** The card, when this account saved it and did not delete it. */
  find: (accountId: string, tokenKey: string) => StoredCard | undefined;
  savedFor: (accountId: string, customerEmail: string) => StoredCard[];
  remove: (accountId: string, tokenKey: string) => boolean;
  all: () => StoredCard[];
};

export function createCards(): Cards {
  const byTokenKey = new Map<string, StoredCard>();

  function find(accountId: string, tokenKey: string): StoredCard | undefined {
    const card = byTokenKey.get(tokenKey);
    return card?.accountId === accountId ? card : undefined;
  }

  return {
    add: (card) => void byTokenKey.set(card.tokenKey, card),
    find,
    savedFor: (accountId, customerEmail) =>
      [...byTokenKey.values()].filter(
        (card) => card.accountId === accountId && card.customerEmail === customerEmail,
      ),
    remove: (accountId, tokenKey) => find(accountId, tokenKey) !== undefined && byTokenKey.delete(tokenKey),
    all: () => [...byTokenKey.values()],
  };
}

export function newTokenKey(): string {
  return `tok-${randomBytes(12).toString('hex')}`;
}

/** The card as the wire tells it: without what the simulator alone knows. Spec: Saved card. */
export function savedCardOf(card: StoredCard): Required<SavedCard> {
  const { tokenKey, cardType, tokenExpiryDate, cardPan, customerEmail } = card;
  return { tokenKey, cardType, tokenExpiryDate, cardPan, customerEmail };
}
