import { contradicts, recordOf, type Lookup } from '../../domain/alert.ts';
import { withLookUp, type Destination } from '../../domain/alert-route.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import { itemOf } from '../../domain/storm-summary.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { alertKey, historyKey, type OutboxRecord } from '../outbox/outbox.ts';
import { openBody } from '../outbox/outbox-bodies.ts';
import { again, finish, hold, type Work } from '../outbox/outbox-work.ts';
import { isRepeat, postOrEdit, settle } from '../outbox/post-or-edit.ts';
import type { Prepared } from '../outbox/prepare-post.ts';
import { logOnce, type AlertPostDeps } from '../alert/alert-post.ts';

/** A storm’s digest, made of the storm as it is when it leaves. */
export async function prepareDigest(
  deps: AlertPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { storm, to } = openBody('digest', deps.sealer, work);
  const seen = await deps.storms.see(storm);
  if (!seen) return await settle(deps, work);
  const about = to === undefined ? undefined : await deps.storms.place(storm);
  const message = deps.compose({
    kind: 'digest',
    storm: seen,
    isDirect: to !== undefined,
    ...withoutUndefined({ place: about }),
    key: historyKey(entry.key, record),
    mayBeRepeat: isRepeat(work, mayBeRepeat),
  });
  return await postOrEdit(deps, work, record.channel, message);
}

/** Whether the event says itself what a digest tells of it; else its look-up does. No event proves a payment. */
export function saysItAll({ kind, amountMinor, currency, reason }: PaymentEvent): boolean {
  const isFailure = kind === 'payment_failed';
  return isFailure && amountMinor !== undefined && currency !== undefined && reason !== undefined;
}

/**
 * Whether a digest may tell it: every failure, and a payment that asks nobody for anything. One that
 * its look-up does not confirm, or whose card could not be kept, is told on its own.
 */
export function mayBeGathered(
  event: PaymentEvent,
  { digest }: OutboxRecord,
  lookup: Lookup | undefined,
): boolean {
  if (digest || event.kind === 'payment_failed') return true;
  if (event.cardSaved && event.cardSaved.kind !== 'kept') return false;
  return !contradicts(lookup?.kind);
}

/**
 * An alert that a storm’s digest tells instead of a message of its own; undefined when it is posted. That it is
 * the digest’s is written before the digest counts it, so that a crash in between leaves it to that digest though
 * the storm be over by then; whoever takes it next adds it once more, which counts once. It is linked to later
 * payments like any other. Not looked up where its event says enough or is late: a storm is when the service has enough to
 * do.
 */
export async function tellByDigest(
  deps: AlertPostDeps,
  work: Work,
  alert: { event: PaymentEvent; lookup: Lookup | undefined; to: Destination },
): Promise<Prepared | undefined> {
  const { record } = work;
  if (record.digest?.at !== undefined) {
    await deps.storms.refresh(record.digest.storm);
    return await settle(deps, work);
  }
  const storm = await decide(deps, work, alert.to, alert.event.kind);
  if (storm === undefined) return undefined;
  const held = record.digest ? work : await hold(deps, work, { digest: { storm } }, deps.leaseMs);
  if (!held) {
    await again(deps, work, {}, { holdMs: 0 });
    return { kind: 'settled' };
  }
  const at = await count(deps, work, storm, alert);
  const counted = { digest: { storm, at }, logged: true, refused: undefined, misses: 0 };
  await finish(deps, held, counted, 0);
  return { kind: 'settled' };
}

async function decide(
  deps: AlertPostDeps,
  { entry, record }: Work,
  to: Destination,
  gathers: PaymentEventKind,
): Promise<string | undefined> {
  if (record.digest) return record.digest.storm;
  // What was posted, or may have been, goes on as a message.
  if (record.posted ?? record.doubt ?? record.replaced) return undefined;
  return await deps.storms.ask(to, entry.key, gathers);
}

/** What was not found is not asked for again, or a storm of ten thousand would ask for each. */
function foundBy(lookup: Lookup | undefined): Lookup {
  return lookup && recordOf(lookup) ? lookup : { kind: 'no_reference' };
}

async function count(
  deps: AlertPostDeps,
  work: Work,
  storm: string,
  { event, lookup }: { event: PaymentEvent; lookup: Lookup | undefined },
): Promise<number> {
  const { entry, record } = work;
  const { receivedAtMs } = record;
  const known = lookup ? withLookUp(event, lookup) : event;
  const times = { receivedAtMs, addedAtMs: deps.now() };
  const item = itemOf(known, times, lookup?.kind === 'confirmed');
  const isFailure = event.kind === 'payment_failed';
  const isCopy = entry.key !== alertKey(event.key);
  // Side by side: each may be done again, and together they cost the store one write on the disk.
  const [at] = await Promise.all([
    // Written before: somebody was at it, and was killed or lost its lease, nobody knows how long ago.
    record.digest ? deps.storms.addAgain(storm, item) : deps.storms.add(storm, item),
    isFailure && isCopy ? deps.cards.join(event.key, entry.key) : undefined,
    logOnce(deps, work, event, lookup),
    isFailure ? deps.cards.linkFailure(event, foundBy(lookup), receivedAtMs) : undefined,
  ]);
  // A message of it in another channel follows, where somebody acknowledged the storm before.
  if (isFailure) await deps.cards.retell(event.key);
  // Whoever resolved the card told the storms that listed it by then, and this one may have come later.
  if (isFailure && (await deps.cards.read(event.key)).card.kind === 'recovered')
    await deps.storms.recovered(storm, event.key, at);
  return at;
}
