import type { Money } from './money.ts';

/**
 * What may be shown of a saved card: enough for a person to tell it from the customer's other cards.
 * All absent for a card whose token key was pasted and that the ledger does not know.
 *
 * Spec: Saved card (tokenized card data); the format of cardPan: not shown, so only its last four digits are kept.
 */
export type CardFace = { cardType?: string; lastFour?: string };

/** What an agent agreed to, whole. `tokenKey` is a secret: the terms are kept sealed. */
export type ChargeTerms = {
  tokenKey: string;
  card: CardFace;
  money: Money;
  /** The e-mail linked to the card; the service refuses any other. */
  customerEmail: string;
  customerId?: string;
  /** The agent's own words, for colleagues; never sent to the service. */
  reason?: string;
  /** The failed charge it makes good, by the id of its card: once that has ended, nothing is charged. */
  alert?: string;
};

/** The terms as they may be read out to a person who is allowed to charge. */
export type ShownTerms = Omit<ChargeTerms, 'tokenKey'>;
