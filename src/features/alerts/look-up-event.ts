import type { Lookup } from '../../domain/alert.ts';
import { confirm, type ExpectedCharge, type Transaction } from '../../domain/transaction.ts';
import { ServiceFailure, type FailureKind } from '../../domain/failure.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { leftOf, spanOf, type Span } from '../../domain/span.ts';
import { recordOfOrder } from './alert.ts';

type FindTransaction = (reference: OrderReference) => Promise<Transaction | undefined>;

/** Finds the record with that transaction id; undefined: no setting says how the service is asked for one. */
type FindById = ((transactionId: string) => Promise<Transaction | undefined>) | undefined;

/**
 * What the payments service itself says about the event's order. An event proves nothing by itself, so
 * this runs before any statement about money; a service that cannot be asked is `unchecked`, not a throw.
 *
 * Spec: Transactions; Events.
 */
export async function lookUpEvent(
  findTransaction: FindTransaction,
  event: PaymentEvent,
  findById?: FindById,
): Promise<Lookup> {
  const { orderReference, referenceHint, transactionId, currency } = event;
  // What went back may be a part of what was paid.
  const minor = event.kind === 'payment_given_back' ? undefined : event.amountMinor;
  const amount =
    minor === undefined ? undefined : { minor, source: 'event' as const, ...withoutUndefined({ currency }) };
  const isById = orderReference === undefined && transactionId !== undefined && findById !== undefined;
  if (isById) {
    return await ifAnswered(async () => {
      const record = await findById(transactionId);
      if (!record) return { kind: 'not_found' };
      const named = parseOrderReference(record.orderReference ?? '');
      if (record.id !== transactionId || !named.ok) return { kind: 'no_reference' };
      return confirm({ reference: named.value, ...withoutUndefined({ amount }) }, record);
    });
  }
  const reference = parseOrderReference(orderReference ?? referenceHint ?? '');
  if (!reference.ok) return { kind: 'no_reference' };
  const lookup = await lookUpExpected(findTransaction, {
    reference: reference.value,
    ...withoutUndefined({ amount }),
  });
  if (orderReference !== undefined || lookup.kind === 'unchecked') return lookup;
  // An unsigned reference may name any order; only the signed transaction id ties its record to the event.
  const isTied = transactionId !== undefined && recordOfOrder(lookup)?.id === transactionId;
  return isTied ? lookup : { kind: 'no_reference' };
}

/** Whether a look-up can find the order of an event that does not sign its reference. */
export function canAskFor({ referenceHint, transactionId }: PaymentEvent, findById?: FindById): boolean {
  if (transactionId === undefined) return false;
  return findById !== undefined || parseOrderReference(referenceHint ?? '').ok;
}

/** The verdict on what should have been paid. */
export async function lookUpExpected(
  findTransaction: FindTransaction,
  expected: ExpectedCharge,
): Promise<Lookup> {
  return await ifAnswered(async () => confirm(expected, await findTransaction(expected.reference)));
}

async function ifAnswered(look: () => Promise<Lookup>): Promise<Lookup> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ServiceFailure) return { kind: 'unchecked', failure: error.kind };
    throw error;
  }
}

/** Failures of the service as a whole; `malformed` and `forbidden` may be about one record. */
const outageKinds = new Set<FailureKind>(['timeout', 'network', 'server', 'rate_limited', 'unauthorized']);
const shortestQuietMs = 2_000;

/**
 * Does not ask a service again that has just failed: for three times as long as the failure took, 2 s at least,
 * everything is `unchecked` at once. So a burst of alerts behind a service that hangs costs one wait, not one each.
 * Says since when nothing was answered, for callers that give up after a while.
 */
export function sparing<About>(
  now: () => number,
  look: (about: About) => Promise<Lookup>,
): (about: About) => Promise<Lookup> {
  let outage: { failure: FailureKind; sinceMs: number; quiet: Span } | undefined;
  return async function lookUp(about) {
    const startedAtMs = now();
    if (outage && leftOf(outage.quiet, startedAtMs) > 0) {
      const { failure, sinceMs } = outage;
      return { kind: 'unchecked', failure, sinceMs };
    }
    const lookup = await look(about);
    if (lookup.kind !== 'unchecked' || !outageKinds.has(lookup.failure)) {
      outage = undefined;
      return lookup;
    }
    const endedAtMs = now();
    const sinceMs = Math.min(outage?.sinceMs ?? startedAtMs, endedAtMs);
    const quiet = spanOf(endedAtMs, Math.max(shortestQuietMs, 3 * (endedAtMs - startedAtMs)));
    outage = { failure: lookup.failure, sinceMs, quiet };
    return { ...lookup, sinceMs };
  };
}
