import type { CardFace } from './card.ts';
import type { Money } from './money.ts';

/** One record about a customer, in its last known state, without a look-up. */
export type FoundRecord = {
  kind: 'charge' | 'payment link' | 'alert' | 'payment' | 'saved card';
  /** A look-up confirmed all three parts. */
  isProven: boolean;
  /** It is unknown whether money moved. */
  isInDoubt: boolean;
  /** The Slack user id of the person who charged or requested it. */
  agent?: string;
  /** Symbol and words, as in its own message. */
  state: string;
  /** When it was charged, requested, received or saved; UTC ms. */
  atMs: number;
  /** Absent for a saved card, and for an event without an order. */
  reference?: string;
  money?: Money;
  card?: CardFace;
  customerEmail?: string;
  isFailed: boolean;
  /** It is unfinished or needs a person. */
  isOpen: boolean;
};
