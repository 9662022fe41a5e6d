import type { Lookup } from '../domain/alert.ts';
import { withLookUp, type Destination } from '../domain/alert-route.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import { itemOf } from '../domain/storm-summary.ts';
import { logOnce } from './log-once.ts';
import { alertKey, historyKey, openDigest } from './outbox.ts';
import { again, finish, hold, paceMs, type Work } from './outbox-work.ts';
import { followedByEdit, isRepeat, postOrEdit, settle } from './post-or-edit.ts';
import type { Composed, PrepareDeps, Prepared } from './prepare-post.ts';

/** A storm’s digest, made of the storm as it is when it leaves. */
export async function prepareDigest(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const { storm, to } = openDigest(deps.sealer, entry.key, record);
  const seen = await deps.storms.see(storm);
  if (!seen) return await settle(deps, work);
  const isFirst = !record.posted;
  const compose = (leavesOut: boolean): Composed =>
    deps.compose({
      kind: 'digest',
      storm: seen,
      isDirect: to !== undefined,
      key: historyKey(entry.key, record),
      mayBeRepeat: isRepeat(work, mayBeRepeat),
      isFirst: leavesOut,
    });
  const namesPeople = isFirst && seen.taken !== undefined && to === undefined;
  const whole = namesPeople ? followedByEdit(compose) : compose(isFirst);
  return await postOrEdit(deps, work, record.channel, whole);
}

/** Whether the event says itself what a digest tells of it; else its look-up does. */
export function saysItAll({ amountMinor, currency, reason }: PaymentEvent): boolean {
  return amountMinor !== undefined && currency !== undefined && reason !== undefined;
}

/**
 * An alert that a storm’s digest tells instead of a message of its own; undefined when it is posted. That it is
 * the digest’s is written before the digest counts it, so that a crash in between leaves it to that digest though
 * the storm be over by then; whoever takes it next adds it once more, which counts once. It is linked to later
 * payments like any other. Not looked up where its event says enough or is late: a storm is when the service has enough to
 * do.
 */
export async function tellByDigest(
  deps: PrepareDeps,
  work: Work,
  alert: { event: PaymentEvent; lookup: Lookup | undefined; to: () => Promise<Destination> },
): Promise<Prepared | undefined> {
  const { record } = work;
  if (record.digest?.isCounted) {
    await deps.storms.refresh(record.digest.storm);
    return await settle(deps, work);
  }
  const decided = await decide(deps, work, alert.to);
  if (!decided) return undefined;
  const { storm, begins } = decided;
  const digest = { storm, isCounted: false };
  const held = record.digest ? work : await hold(deps, work, { digest }, deps.leaseMs);
  if (!held) {
    await again(deps, work, {}, { delayMs: 0 });
    return { kind: 'settled' };
  }
  await count(deps, work, storm, alert);
  const counted = { digest: { storm, isCounted: true }, logged: true, refused: undefined, misses: 0 };
  // The first lets the digest pass: it is posted in the same channel, from a lane of its own.
  await finish(deps, held, counted, begins ? 2 * paceMs : 0);
  return { kind: 'settled' };
}

async function decide(
  deps: PrepareDeps,
  { entry, record }: Work,
  to: () => Promise<Destination>,
): Promise<{ storm: string; begins: boolean } | undefined> {
  if (record.digest) return { storm: record.digest.storm, begins: false };
  // What was posted, or may have been, goes on as a message.
  if (record.posted ?? record.doubt ?? record.replaced) return undefined;
  const { channel, rule } = await to();
  const asked = await deps.storms.ask(channel, rule, entry.key);
  return asked.kind === 'digest' ? asked : undefined;
}

async function count(
  deps: PrepareDeps,
  work: Work,
  storm: string,
  { event, lookup }: { event: PaymentEvent; lookup: Lookup | undefined },
): Promise<void> {
  const { entry, record } = work;
  const { receivedAtMs } = record;
  const item = itemOf(lookup ? withLookUp(event, lookup) : event, { receivedAtMs, addedAtMs: deps.now() });
  const isCopy = entry.key !== alertKey(event.key);
  // Side by side: each may be done again, and together they cost the store one write on the disk.
  await Promise.all([
    isCopy ? deps.cards.join(event.key, entry.key) : undefined,
    logOnce(deps, work, event, lookup),
    deps.cards.linkFailure(event, lookup ?? { kind: 'no_reference' }, receivedAtMs),
    // Written before: somebody was at it, and was killed or lost its lease, nobody knows how long ago.
    record.digest ? deps.storms.addAgain(storm, item) : deps.storms.add(storm, item),
  ]);
}
