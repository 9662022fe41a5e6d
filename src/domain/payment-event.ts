import type { CardSaved, SavedCard } from './card.ts';

/**
 * The spec's two events, and money given back, whose name comes from settings. Any other signed kind is `unknown`, stored
 * and reported.
 */
export type PaymentEventKind = 'payment_success' | 'payment_failed' | 'payment_given_back';

/** Kinds that can storm. Money given back is always posted singly. */
export type GatheredKind = Exclude<PaymentEventKind, 'payment_given_back'>;

/**
 * One signed event, with signed fields only: an unsigned amount or reference is left out, and the look-up supplies it.
 *
 * Spec: Events (known payload fields); amount, transaction id and reason: not shown, so settings say where they stand.
 */
export type PaymentEvent = {
  kind: PaymentEventKind;
  /** The dedupe key, the same for every repeat, whatever the sender's id. */
  key: string;
  orderReference?: string;
  /**
   * An unsigned reference, only for asking the service. Its answer counts only if the record has the signed transaction id.
   */
  referenceHint?: string;
  /** The signed time, if no reference is signed: helps people find the payment. */
  signedAtMs?: number;
  orderId?: string;
  transactionId?: string;
  customerId?: string;
  customerEmail?: string;
  amountMinor?: number;
  currency?: string;
  reason?: string;
  isSavedCardCharge?: boolean;
  /** From the first card-saving payment, in production. Never store unsealed. */
  savedCard?: SavedCard;
  /** The saved card of a success, without its token; see `CardSaved`. */
  cardSaved?: CardSaved;
  /** Details were erased: only the order and what happened are left. */
  isErased?: true;
};

/** The kind of a signed delivery without a kind. */
export const unreadableKind = 'unreadable';

/** The key of an order's one event of a kind; see `PaymentEvent.key`. */
export function orderEventKey(kind: GatheredKind, reference: string): string {
  return `${kind}/order/${reference}`;
}

/** The key of money given back: an order may have several, told apart by `which`. */
export function givenBackEventKey(which: string, reference: string): string {
  return `payment_given_back/${which}/order/${reference}`;
}

/** The reference in a key; undefined if the event has none, or one unfit for a key. */
export function referenceOfEventKey(key: string): string | undefined {
  return /^payment_(?:success|failed|given_back\/[0-9a-f]+)\/order\/(.+)$/su.exec(key)?.[1];
}
