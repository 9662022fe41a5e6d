import type { CardFace } from './card.ts';
import type { Money } from './money.ts';

/** One record that `/pay find` found, in its last stored state, without a look-up. */
export type FoundRecord = {
  kind: 'charge' | 'payment link' | 'alert' | 'payment' | 'refund' | 'saved card';
  /** A look-up has confirmed status, reference and amount; for a refund, that the money went back. */
  isProven: boolean;
  /** It is unknown whether money moved. */
  isInDoubt: boolean;
  /** The Slack user id of the person who charged or requested it. */
  agent?: string;
  /** The record's state in symbol and words, as in its own message. */
  state: string;
  /** When the record began: charged, requested, received or saved. UTC ms. */
  atMs: number;
  /** When a charge or link reached its present outcome; absent: it has none. */
  outcomeAtMs?: number;
  /** Absent for a saved card, and for an event without an order. */
  reference?: string;
  money?: Money;
  card?: CardFace;
  customerEmail?: string;
  isFailed: boolean;
  /** The record is unfinished or needs a person. */
  isOpen: boolean;
};
