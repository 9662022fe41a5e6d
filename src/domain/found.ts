import type { CardFace } from './card.ts';
import type { Money } from './money.ts';

/** One thing of a customer's that the bot has on record, as it was last known: nothing is looked up for it. */
export type FoundRecord = {
  kind: 'charge' | 'payment link' | 'alert' | 'payment' | 'saved card';
  /** A look-up confirmed it, all three parts. */
  isProven: boolean;
  /** Nobody knows yet whether money moved. */
  isInDoubt: boolean;
  /** The Slack user id of who charged or asked for it. */
  agent?: string;
  /** Symbol and words, as its own message has them. */
  state: string;
  /** When it was charged, asked for, received or saved; UTC ms. */
  atMs: number;
  /** Absent of a saved card, and of an event that names no order. */
  reference?: string;
  money?: Money;
  card?: CardFace;
  customerEmail?: string;
  isFailed: boolean;
  /** Somebody waits for it or has to see to it. */
  isOpen: boolean;
};
