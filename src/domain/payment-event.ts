import type { CardSaved, SavedCard } from './card.ts';

/**
 * The specification's two events, and money that was returned to the customer, an event whose name comes from settings.
 * Any other signed event is of kind `unknown`; it is stored and reported.
 */
export type PaymentEventKind = 'payment_success' | 'payment_failed' | 'payment_given_back';

/** Kinds of which many may come at once and be gathered in a digest. Money given back is always posted one by one. */
export type GatheredKind = Exclude<PaymentEventKind, 'payment_given_back'>;

/**
 * One signed event, with signed fields only. An unsigned amount or reference is left out; the look-up supplies it.
 *
 * Spec: Events (known payload fields); amount, transaction id and reason: not shown, so settings say where they are.
 */
export type PaymentEvent = {
  kind: PaymentEventKind;
  /** The key for recognising a repeat: the same for every repeat, also if the sender's own id differs. */
  key: string;
  orderReference?: string;
  /**
   * An unsigned reference, used only for the look-up. The look-up's answer counts only if its record has the signed
   * transaction id.
   */
  referenceHint?: string;
  /** The signed time, given only without a signed reference: it helps people find the payment. */
  signedAtMs?: number;
  orderId?: string;
  transactionId?: string;
  customerId?: string;
  customerEmail?: string;
  amountMinor?: number;
  currency?: string;
  reason?: string;
  isSavedCardCharge?: boolean;
  /** The card that a first payment saved; sent in production only. Never store it unsealed. */
  savedCard?: SavedCard;
  /** The saved card of a success, without its token; see `CardSaved`. */
  cardSaved?: CardSaved;
  /** The details were erased because the event is old: only the order and the outcome are left. */
  isErased?: true;
};

/** The kind of a signed delivery in which no kind was found. */
export const unreadableKind = 'unreadable';

/** The key of a success or failure; an order has at most one of each. See `PaymentEvent.key`. */
export function orderEventKey(kind: GatheredKind, reference: string): string {
  return `${kind}/order/${reference}`;
}

/** The key of an event about money given back. An order may have several; `which` tells them apart. */
export function givenBackEventKey(which: string, reference: string): string {
  return `payment_given_back/${which}/order/${reference}`;
}

/** The reference in a key; undefined if the event has none, or if its reference is not part of the key. */
export function referenceOfEventKey(key: string): string | undefined {
  return /^payment_(?:success|failed|given_back\/[0-9a-f]+)\/order\/(.+)$/su.exec(key)?.[1];
}
