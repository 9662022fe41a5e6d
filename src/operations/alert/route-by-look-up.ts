import { withLookUp } from '../../domain/alert-route.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Entry } from '../../store/store.ts';
import { logOnce } from './log-once.ts';
import {
  isMessage,
  openEvent,
  readOutboxRecord,
  sealEvidence,
  type Evidence,
  type OutboxRecord,
} from '../outbox/outbox.ts';
import { again, finish, hold, type Work } from '../outbox/outbox-work.ts';
import type { Prepared } from '../outbox/prepare-post.ts';
import type { AlertPostDeps } from './alert-post.ts';
import { storeCopies } from './route-event.ts';

/** A service that is away delays an alert by this much at most; then it is told unchecked. */
const lookUpPatienceMs = 10_000;
const lookUpAgainMs = 2_000;

/**
 * Looked up anew for every post; an edit shows what the post showed, and a routing ends as it began. Undefined: the
 * alert waits for the service.
 */
export async function evidenceOf(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
  kept: Evidence | undefined,
): Promise<Evidence | undefined> {
  const { record } = work;
  if (kept && (record.posted || !isMessage(record))) return kept;
  const found = await lookUpPatiently(deps, record, event);
  const { unansweredSinceMs = deps.now() } = record;
  if (!found) await again(deps, work, { unansweredSinceMs }, { holdMs: lookUpAgainMs });
  return found;
}

/** Undefined: the service could not be asked, and not for so long yet that the alert is told without. */
async function lookUpPatiently(
  deps: AlertPostDeps,
  record: OutboxRecord,
  event: PaymentEvent,
): Promise<Evidence | undefined> {
  const lookup = await deps.lookUp(event);
  const isWaiting = lookup.kind === 'unchecked' && mayWait(record, lookup, deps.now());
  return isWaiting ? undefined : { lookup, atMs: deps.now() };
}

/**
 * A service that has just begun to be away is waited for by what is old as well, or one failed look-up would send a
 * whole backlog where its events alone say. One order that alone gets no answer does not hold up the others for longer.
 */
function mayWait(
  { receivedAtMs, unansweredSinceMs }: OutboxRecord,
  { sinceMs = receivedAtMs }: Extract<Lookup, { kind: 'unchecked' }>,
  nowMs: number,
): boolean {
  const waitedMs = nowMs - Math.max(receivedAtMs, Math.min(sinceMs, unansweredSinceMs ?? nowMs));
  // Below zero: the clocks differ, or one was put back. Nobody knows how long that goes on.
  return waitedMs >= 0 && waitedMs < lookUpPatienceMs;
}

/**
 * An event that is routed by what the look-up says: from here on the records of its channels tell it, and its own
 * is its dedupe memory alone, which no storm counts. What the look-up said is on record before anything follows from
 * it: a crash in between is made good by the next round, which must not send it elsewhere.
 */
export async function routeByLookUp(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
  kept: Evidence | undefined,
): Promise<Prepared> {
  const found = await evidenceOf(deps, work, event, kept);
  if (!found) return { kind: 'settled' };
  await logOnce(deps, work, event, found.lookup);
  const { fingerprint, receivedAtMs, evidence } = work.record;
  if (evidence === undefined) {
    const kept = { evidence: sealEvidence(deps.sealer, work.entry.key, found) };
    await again(deps, work, kept, { holdMs: 0 });
    return { kind: 'settled' };
  }
  const destinations = deps.route(withLookUp(event, found.lookup), receivedAtMs);
  await storeCopies(deps, { event, fingerprint, receivedAtMs, found }, destinations);
  await finish(deps, work, { logged: true, misses: 0 }, 0);
  return { kind: 'settled' };
}

/**
 * Looks an event up that waits for its turn to be routed by what is found, and puts that on its record, so that its
 * turn asks nobody and nothing is asked twice, also after a crash. Undefined: the alert waits for the service. Throws
 * what keeps it from being read.
 */
export async function lookUpAhead(deps: AlertPostDeps, entry: Entry): Promise<Entry | undefined> {
  const waiting = openWaiting(deps, entry);
  if (!waiting) return entry;
  const { record, event } = waiting;
  const found = await lookUpPatiently(deps, record, event);
  if (!found) return undefined;
  const evidence = sealEvidence(deps.sealer, entry.key, found);
  return (await hold(deps, { entry, record }, { evidence }, deps.leaseMs))?.entry;
}

function openWaiting(
  { sealer }: AlertPostDeps,
  entry: Entry,
): { record: OutboxRecord; event: PaymentEvent } | undefined {
  const record = readOutboxRecord(entry.value);
  const isWaiting = record.kind === 'alert' && !isMessage(record) && !record.untold;
  if (!isWaiting || record.evidence !== undefined) return undefined;
  return { record, event: openEvent(sealer, entry.key, record) };
}
