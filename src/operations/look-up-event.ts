import type { Lookup } from '../domain/alert.ts';
import { confirm } from '../domain/confirmation.ts';
import { ServiceFailure } from '../domain/failure.ts';
import { parseOrderReference, type OrderReference } from '../domain/order-reference.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { Transaction } from '../domain/transaction.ts';

export type FindTransaction = (reference: OrderReference) => Promise<Transaction | undefined>;

/**
 * What the payments service itself says about the event's order. An event proves nothing by itself, so
 * this runs before any statement about money; a service that cannot be asked is `unchecked`, not a throw.
 *
 * Spec: Transactions; Events.
 */
export async function lookUpEvent(findTransaction: FindTransaction, event: PaymentEvent): Promise<Lookup> {
  const reference = parseOrderReference(event.orderReference ?? event.referenceHint ?? '');
  if (!reference.ok) return { kind: 'no_reference' };
  try {
    const transaction = await findTransaction(reference.value);
    if (event.orderReference === undefined && !isOfEvent(transaction, event)) return { kind: 'no_reference' };
    return confirm({ reference: reference.value, ...expectedAmount(event) }, transaction);
  } catch (error) {
    if (error instanceof ServiceFailure) return { kind: 'unchecked', failure: error.kind };
    throw error;
  }
}

/** An unsigned reference may name any order; only the signed transaction id ties its record to the event. */
function isOfEvent(transaction: Transaction | undefined, event: PaymentEvent): boolean {
  return event.transactionId !== undefined && transaction?.id === event.transactionId;
}

function expectedAmount(event: PaymentEvent): Pick<Parameters<typeof confirm>[0], 'amount'> {
  if (event.amountMinor === undefined) return {};
  const amount = { minor: event.amountMinor, source: 'event' as const };
  return { amount: event.currency === undefined ? amount : { ...amount, currency: event.currency } };
}
