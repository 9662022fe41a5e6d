import type { PaymentEventKind } from './payment-event.ts';

/** The key of the one event of a kind that an order of this reference has; see `PaymentEvent.key`. */
export function orderEventKey(kind: PaymentEventKind, reference: string): string {
  return `${kind}/order/${reference}`;
}

/** The reference in such a key; undefined for an event that names none, or none that is fit to be a key. */
export function referenceOfEventKey(key: string): string | undefined {
  return /^payment_(?:success|failed)\/order\/(.+)$/su.exec(key)?.[1];
}
