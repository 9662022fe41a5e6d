import type { Lookup } from '../../domain/alert.ts';
import { confirm, type ExpectedCharge, type Transaction } from '../../domain/transaction.ts';
import { ServiceFailure, type FailureKind } from '../../domain/failure.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { leftOf, spanOf, type Span } from '../../domain/span.ts';
import type { Account } from '../../account.ts';
import { tagLog } from '../../log.ts';
import {
  type MessageRecord,
  type Work,
  hold,
  isAlert,
  openEvent,
  readMessageRecord,
  reschedule,
} from '../../messages/message-record.ts';
import type { Entry } from '../../store/store.ts';
import {
  type Evidence,
  newerOf,
  openEvidence,
  recordOfOrder,
  sealEvidence,
  withProvenOrder,
} from './alert.ts';
import { type Route, withLookUp } from './route-event.ts';

type FindTransaction = (reference: OrderReference) => Promise<Transaction | undefined>;

/** Finds the record with that transaction id; undefined: no setting says how the service is asked for one. */
type FindById = ((transactionId: string) => Promise<Transaction | undefined>) | undefined;

/**
 * Looks up the event's order, because an event proves nothing by itself. `unchecked` if the service gives no answer; doesn't
 * throw for that.
 *
 * Spec: Transactions; Events.
 */
export async function lookUpEvent(
  findTransaction: FindTransaction,
  event: PaymentEvent,
  findById?: FindById,
): Promise<Lookup> {
  const { orderReference, referenceHint, transactionId, currency } = event;
  // A refund may be a part of the payment.
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
  // An unsigned reference may name any order; only the signed transaction id links its record to the event.
  const isTied = transactionId !== undefined && recordOfOrder(lookup)?.id === transactionId;
  return isTied ? lookup : { kind: 'no_reference' };
}

/** Whether a look-up can find the order of an event that does not sign its reference. */
export function canAskFor({ referenceHint, transactionId }: PaymentEvent, findById?: FindById): boolean {
  if (transactionId === undefined) return false;
  return findById !== undefined || parseOrderReference(referenceHint ?? '').ok;
}

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
 * A circuit breaker around a look-up. After a failure of the service, every look-up is `unchecked` at once, for three times as
 * long as the failure took, at least 2 s: a burst of alerts waits once for a hanging service, not once each. `sinceMs`: when
 * the outage began.
 */
export function withCircuitBreaker<About>(
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

/** Prefix of lanes for events that can only be routed after a look-up. */
export const toRouteLanes = 'to-route/';
/** Over all replicas, so that a flood of events doesn't flood the service. */
const lookUpsAtOnce = 8;

/** The longest that an outage of the service delays an alert; then it is posted unchecked. */
const lookUpPatienceMs = 10_000;
const retryLookUpMs = 2_000;

/**
 * Whether the alert still waits for the service. Its time counts from the event, or from the outage's start if that is later:
 * otherwise a backlog older than the time would be posted unchecked at the first failed look-up. `sinceMs`: the outage's start;
 * absent: only this order got no answer.
 */
function mayWait(
  { receivedAtMs, unansweredSinceMs }: MessageRecord,
  { sinceMs = receivedAtMs }: Extract<Lookup, { kind: 'unchecked' }>,
  nowMs: number,
): boolean {
  const waitedMs = nowMs - Math.max(receivedAtMs, Math.min(sinceMs, unansweredSinceMs ?? nowMs));
  // Negative if a clock was put back.
  return waitedMs >= 0 && waitedMs < lookUpPatienceMs;
}

/** Looks up alerts, and routes those whose event doesn't say enough. */
export function createLookUps(
  account: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'now'>,
  { lookUp, route }: { lookUp: (event: PaymentEvent) => Promise<Lookup>; route: Route },
) {
  const { sealer, now } = account;

  /** Undefined: no answer yet, and the alert still waits. */
  async function ask({ entry, record }: Work, event: PaymentEvent): Promise<Evidence | undefined> {
    const known = openEvidence(sealer, entry.key, record);
    const lookup = await lookUp(withProvenOrder(event, known?.lookup));
    const isWaiting = lookup.kind === 'unchecked' && mayWait(record, lookup, now());
    return isWaiting ? undefined : newerOf({ lookup, atMs: now() }, known);
  }

  /** Holds its lane until the service answers. */
  async function wait(work: Work): Promise<void> {
    const { unansweredSinceMs = now() } = work.record;
    await reschedule(account, work, { unansweredSinceMs }, { holdMs: retryLookUpMs });
  }

  /** The look-up and its route, to be stored together. Undefined: no answer yet. */
  async function routeByLookUp(
    work: Work,
    event: PaymentEvent,
  ): Promise<Pick<MessageRecord, 'evidence' | 'routed' | 'keptBy' | 'byCharge'> | undefined> {
    const { entry, record } = work;
    const found = await ask(work, event);
    if (!found) return undefined;
    const { routed, ...others } = await route(
      withLookUp(event, found.lookup),
      record.receivedAtMs,
      found.lookup,
    );
    return { evidence: sealEvidence(sealer, entry.key, found), routed, ...others };
  }

  /**
   * Looks up an event before its turn to be routed, and stores the result with it. Undefined: no answer yet. Throws if the
   * record can't be read.
   */
  async function lookUpAhead(entry: Entry): Promise<Entry | undefined> {
    const record = readMessageRecord(entry.value);
    if (!isAlert(record) || record.routed) return entry;
    tagLog({ requestId: record.requestId });
    const work = { entry, record };
    const change = await routeByLookUp(work, openEvent(sealer, entry.key, record));
    return change && (await hold(account, work, change))?.entry;
  }

  return {
    ahead: { lanes: toRouteLanes, most: lookUpsAtOnce, run: lookUpAhead },

    /** Undefined: no answer yet; the alert's lane waits. */
    async askOrWait(work: Work, event: PaymentEvent): Promise<Evidence | undefined> {
      const found = await ask(work, event);
      if (!found) await wait(work);
      return found;
    },

    /** Stores the route; the record is due again at once. Without an answer its lane waits. */
    async routeOrWait(work: Work, event: PaymentEvent): Promise<void> {
      const change = await routeByLookUp(work, event);
      if (change) await reschedule(account, work, change, { holdMs: 0 });
      else await wait(work);
    },
  };
}
