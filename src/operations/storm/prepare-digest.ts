import { contradicts, recordOf, type Lookup } from '../../domain/alert.ts';
import { withLookUp, type Destination } from '../../domain/alert-route.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import { itemOf } from '../../domain/storm-summary.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { createDeadLetters } from '../outbox/dead-letters.ts';
import { digestPlace, type DigestPlace } from './digest-place.ts';
import { logOnce } from '../alert/log-once.ts';
import { alertKey, historyKey, type OutboxRecord } from '../outbox/outbox.ts';
import { openBody, type OutboxBodies } from '../outbox/outbox-bodies.ts';
import { again, finish, hold, paceMs, type Work } from '../outbox/outbox-work.ts';
import { followedByEdit, isRepeat, postOrEdit, settle } from '../outbox/post-or-edit.ts';
import type { Composed, Prepared } from '../outbox/prepare-post.ts';
import type { AlertPostDeps } from '../alert/alert-post.ts';

/** A storm’s digest, made of the storm as it is when it leaves, for where its alerts are told by then. */
export async function prepareDigest(
  deps: AlertPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const body = openBody('digest', deps.sealer, work);
  const { storm, to } = body;
  const place = await placeOf(deps, record, body);
  if (place.kind === 'told') return await leaveToOthers(deps, work);
  const { channel } = place;
  const seen = await deps.storms.see(storm, channel);
  if (!seen) return await settle(deps, work);
  const about = to === undefined ? undefined : await deps.storms.place(storm);
  const stands = record.posted !== undefined && (to !== undefined || record.posted.channel === channel);
  const compose = (leavesOut: boolean): Composed =>
    deps.compose({
      kind: 'digest',
      storm: seen,
      isDirect: to !== undefined,
      ...withoutUndefined({ place: about }),
      key: historyKey(entry.key, record),
      mayBeRepeat: isRepeat(work, mayBeRepeat),
      isFirst: leavesOut,
    });
  const namesPeople = !stands && seen.taken !== undefined && to === undefined;
  const whole = namesPeople ? followedByEdit(compose) : compose(!stands);
  // What is known of the old one stays until the new one stands: the rules may go back before.
  if (record.posted && !stands) return { kind: 'post', channel, message: whole };
  return await postOrEdit(deps, work, channel, whole);
}

/**
 * Where it stands it stays, as long as Slack takes its edits there. Delivered again it goes where the rules send its
 * alerts by then; where those are all told there without it, it is brought up to date once Slack takes its edits.
 */
async function placeOf(
  deps: AlertPostDeps,
  { channel, posted, refused, redriven }: OutboxRecord,
  { storm, to }: OutboxBodies['digest'],
): Promise<DigestPlace> {
  if (to !== undefined) return { kind: 'channel', channel };
  if (!posted) return await digestPlace(deps, storm, channel);
  if (refused) return await digestPlace(deps, storm, posted.channel);
  const stands: DigestPlace = { kind: 'channel', channel: posted.channel };
  if (redriven !== true) return stands;
  const place = await digestPlace(deps, storm, posted.channel);
  return place.kind === 'told' ? stands : place;
}

/** Its alerts are all told where the rules send them now: a second digest would double them. */
async function leaveToOthers(deps: AlertPostDeps, work: Work): Promise<Prepared> {
  const { key } = work.entry;
  const { channel, refused } = work.record;
  deps.log('info', 'not posted: its alerts are told in the channels that the rules name now', {
    key,
    channel,
  });
  await finish(deps, work, { doubt: undefined, refused: undefined, misses: 0 }, 0);
  if (refused?.givenUp) await createDeadLetters(deps).delivered(refused.channel, key);
  return { kind: 'settled' };
}

/** Whether the event says itself what a digest tells of it; else its look-up does. No event proves a payment. */
export function saysItAll({ kind, amountMinor, currency, reason }: PaymentEvent): boolean {
  const isFailure = kind === 'payment_failed';
  return isFailure && amountMinor !== undefined && currency !== undefined && reason !== undefined;
}

/**
 * Whether a digest may tell it: every failure that has a card, and a payment that asks nobody for anything. One that
 * its look-up does not confirm, or whose card could not be kept, is told on its own.
 */
export function mayBeGathered(
  event: PaymentEvent,
  { progress, digest }: OutboxRecord,
  lookup: Lookup | undefined,
): boolean {
  if (digest) return true;
  // One from before there were cards is told as it was to be told.
  if (event.kind === 'payment_failed') return progress !== undefined;
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
  alert: { event: PaymentEvent; lookup: Lookup | undefined; to: () => Promise<Destination> },
): Promise<Prepared | undefined> {
  const { record } = work;
  if (record.digest?.isCounted) {
    await deps.storms.refresh(record.digest.storm);
    return await settle(deps, work);
  }
  const decided = await decide(deps, work, alert.to, alert.event.kind);
  if (!decided) return undefined;
  const { storm, begins } = decided;
  const digest = { storm, isCounted: false };
  const held = record.digest ? work : await hold(deps, work, { digest }, deps.leaseMs);
  if (!held) {
    await again(deps, work, {}, { holdMs: 0 });
    return { kind: 'settled' };
  }
  await count(deps, work, storm, alert);
  const counted = { digest: { storm, isCounted: true }, logged: true, refused: undefined, misses: 0 };
  // The first lets the digest pass: it is posted in the same channel, from a lane of its own.
  await finish(deps, held, counted, begins ? 2 * paceMs : 0);
  return { kind: 'settled' };
}

async function decide(
  deps: AlertPostDeps,
  { entry, record }: Work,
  to: () => Promise<Destination>,
  gathers: PaymentEventKind,
): Promise<{ storm: string; begins: boolean } | undefined> {
  if (record.digest) return { storm: record.digest.storm, begins: false };
  // What was posted, or may have been, goes on as a message.
  if (record.posted ?? record.doubt ?? record.replaced) return undefined;
  const asked = await deps.storms.ask(await to(), entry.key, gathers);
  return asked.kind === 'digest' ? asked : undefined;
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
): Promise<void> {
  const { entry, record } = work;
  const { receivedAtMs } = record;
  const known = lookup ? withLookUp(event, lookup) : event;
  const times = { receivedAtMs, addedAtMs: deps.now() };
  const item = itemOf(known, times, lookup?.kind === 'confirmed');
  const isFailure = event.kind === 'payment_failed';
  const isCopy = entry.key !== alertKey(event.key);
  // Side by side: each may be done again, and together they cost the store one write on the disk.
  await Promise.all([
    isFailure && isCopy ? deps.cards.join(event.key, entry.key) : undefined,
    logOnce(deps, work, event, lookup),
    isFailure ? deps.cards.linkFailure(event, foundBy(lookup), receivedAtMs) : undefined,
    // Written before: somebody was at it, and was killed or lost its lease, nobody knows how long ago.
    record.digest ? deps.storms.addAgain(storm, item) : deps.storms.add(storm, item),
  ]);
  if (isFailure) await countIfRecovered(deps, storm, event.key);
}

/**
 * Whoever made the card good told the messages that it had by then, and this one may have come later: told in another
 * channel, an alert is made good while it waits here, or before its sender comes again after a crash. Those who had it in
 * hand were told then.
 */
async function countIfRecovered({ cards, storms }: AlertPostDeps, storm: string, id: string): Promise<void> {
  const { card } = await cards.read(id);
  if (card.kind === 'recovered') await storms.recovered(storm, id, []);
}
