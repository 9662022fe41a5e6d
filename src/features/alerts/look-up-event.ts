import type { Lookup } from '../../domain/alert.ts';
import { confirm, type ExpectedCharge, type Transaction } from '../../domain/transaction.ts';
import { ServiceFailure, type FailureKind } from '../../domain/failure.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { recordOf } from './alert.ts';

type FindTransaction = (reference: OrderReference) => Promise<Transaction | undefined>;

/**
 * What the payments service itself says about the event's order. An event proves nothing by itself, so
 * this runs before any statement about money; a service that cannot be asked is `unchecked`, not a throw.
 *
 * Spec: Transactions; Events.
 */
export async function lookUpEvent(findTransaction: FindTransaction, event: PaymentEvent): Promise<Lookup> {
  const { orderReference, referenceHint, transactionId, amountMinor: minor, currency } = event;
  const reference = parseOrderReference(orderReference ?? referenceHint ?? '');
  if (!reference.ok) return { kind: 'no_reference' };
  const amount =
    minor === undefined ? undefined : { minor, source: 'event' as const, ...withoutUndefined({ currency }) };
  const expected = { reference: reference.value, ...withoutUndefined({ amount }) };
  const lookup = await lookUpExpected(findTransaction, expected);
  // An unsigned reference may name any order; only the signed transaction id ties its record to the event.
  const isTied = transactionId !== undefined && recordOf(lookup)?.id === transactionId;
  const isOfEvent = orderReference !== undefined || isTied;
  return isOfEvent || lookup.kind === 'unchecked' ? lookup : { kind: 'no_reference' };
}

/** The verdict on what should have been paid. */
export async function lookUpExpected(
  findTransaction: FindTransaction,
  expected: ExpectedCharge,
): Promise<Lookup> {
  try {
    return confirm(expected, await findTransaction(expected.reference));
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
 * Says since when nothing was answered, for whoever waits for a while before giving up.
 */
export function sparing<About>(
  now: () => number,
  look: (about: About) => Promise<Lookup>,
): (about: About) => Promise<Lookup> {
  let outage: { failure: FailureKind; sinceMs: number; untilMs: number } | undefined;
  return async function lookUp(about) {
    const startedAtMs = now();
    if (outage && startedAtMs < outage.untilMs) {
      const { failure, sinceMs } = outage;
      return { kind: 'unchecked', failure, sinceMs };
    }
    const lookup = await look(about);
    if (lookup.kind !== 'unchecked' || !outageKinds.has(lookup.failure)) {
      outage = undefined;
      return lookup;
    }
    const tookMs = now() - startedAtMs;
    const sinceMs = outage?.sinceMs ?? startedAtMs;
    outage = { failure: lookup.failure, sinceMs, untilMs: now() + Math.max(shortestQuietMs, 3 * tookMs) };
    return { ...lookup, sinceMs };
  };
}
