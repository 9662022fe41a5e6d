import type { CardSaved, SavedCard } from './card.ts';

/**
 * The two events the spec names, and the one that says a payment's money went back, which has a name by the settings alone;
 * any other kind that was validly signed is `unknown`, kept and reported.
 */
export type PaymentEventKind = 'payment_success' | 'payment_failed' | 'payment_given_back';

/** Kinds that many events at once make a storm of. What was given back is told each by itself. */
export type GatheredKind = Exclude<PaymentEventKind, 'payment_given_back'>;

/**
 * One signed event, reduced to what the bot may use. Fields are here only when they were covered by the
 * signature: an unsigned amount or reference is left out, and the look-up supplies it.
 *
 * Spec: Events (known payload fields); amount, transaction id and reason: not shown, so settings say where they stand.
 */
export type PaymentEvent = {
  kind: PaymentEventKind;
  /** The dedupe key, the same for every repeat of the event, whatever its sender's id. */
  key: string;
  orderReference?: string;
  /**
   * The reference where the signature does not cover it: good for asking the service and for nothing else.
   * What the service answers counts only when its record has the signed transaction id.
   */
  referenceHint?: string;
  /** The signed time, where no reference is signed: then it helps a person to find the payment. */
  signedAtMs?: number;
  orderId?: string;
  transactionId?: string;
  customerId?: string;
  customerEmail?: string;
  amountMinor?: number;
  currency?: string;
  reason?: string;
  isSavedCardCharge?: boolean;
  /** On the first card-saving payment in production. Must not be stored unsealed. */
  savedCard?: SavedCard;
  /** Of a success that saves a card, once its token was taken out; see `CardSaved`. */
  cardSaved?: CardSaved;
  /** Its details were taken away: what is left says what happened to which order. */
  isErased?: true;
};

/** The kind of a signed delivery in which none is found. */
export const unreadableKind = 'unreadable';

/** The key of the one event of a kind that an order of this reference has; see `PaymentEvent.key`. */
export function orderEventKey(kind: GatheredKind, reference: string): string {
  return `${kind}/order/${reference}`;
}

/** The same of money that was given back, which an order may have several events of: `which` tells them apart. */
export function givenBackEventKey(which: string, reference: string): string {
  return `payment_given_back/${which}/order/${reference}`;
}

/** The reference in such a key; undefined for an event that names none, or none that is fit to be a key. */
export function referenceOfEventKey(key: string): string | undefined {
  return /^payment_(?:success|failed|given_back\/[0-9a-f]+)\/order\/(.+)$/su.exec(key)?.[1];
}
