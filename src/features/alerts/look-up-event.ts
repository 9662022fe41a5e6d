import type { Lookup } from '../../domain/alert.ts';
import { confirm, type ExpectedCharge } from '../../domain/confirmation.ts';
import { ServiceFailure, type FailureKind } from '../../domain/failure.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Transaction } from '../../domain/transaction.ts';

type FindTransaction = (reference: OrderReference) => Promise<Transaction | undefined>;

/**
 * What the payments service itself says about the event's order. An event proves nothing by itself, so
 * this runs before any statement about money; a service that cannot be asked is `unchecked`, not a throw.
 *
 * Spec: Transactions; Events.
 */
export async function lookUpEvent(findTransaction: FindTransaction, event: PaymentEvent): Promise<Lookup> {
  const reference = parseOrderReference(event.orderReference ?? event.referenceHint ?? '');
  if (!reference.ok) return { kind: 'no_reference' };
  const expected = { reference: reference.value, ...expectedAmount(event) };
  return await lookUpExpected(findTransaction, expected, (transaction) => {
    const isOfEvent = event.orderReference !== undefined || isNamedBy(event, transaction);
    return isOfEvent ? undefined : { kind: 'no_reference' };
  });
}

/** The verdict on what should have been paid; `unless` may say otherwise of the record that was found. */
export async function lookUpExpected(
  findTransaction: FindTransaction,
  expected: ExpectedCharge,
  unless?: (transaction: Transaction | undefined) => Lookup | undefined,
): Promise<Lookup> {
  try {
    const transaction = await findTransaction(expected.reference);
    return unless?.(transaction) ?? confirm(expected, transaction);
  } catch (error) {
    if (error instanceof ServiceFailure) return { kind: 'unchecked', failure: error.kind };
    throw error;
  }
}

/** An unsigned reference may name any order; only the signed transaction id ties its record to the event. */
function isNamedBy(event: PaymentEvent, transaction: Transaction | undefined): boolean {
  return event.transactionId !== undefined && transaction?.id === event.transactionId;
}

function expectedAmount(event: PaymentEvent): Pick<Parameters<typeof confirm>[0], 'amount'> {
  if (event.amountMinor === undefined) return {};
  const amount = { minor: event.amountMinor, source: 'event' as const };
  return { amount: event.currency === undefined ? amount : { ...amount, currency: event.currency } };
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
