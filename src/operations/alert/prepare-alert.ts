import { routeAt, withLookUp, type AlertRule, type Destination } from '../../domain/alert-route.ts';
import {
  customerEmailOf,
  isDeclined,
  type Alert,
  type AlertCardShown,
  type AlertRoute,
  type Lookup,
} from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { logOnce } from './log-once.ts';
import {
  alertKey,
  isMessage,
  openEvent,
  openEvidence,
  sealEvidence,
  type Evidence,
  type OutboxRecord,
} from '../outbox/outbox.ts';
import { prepareOldAlert } from './old-alert.ts';
import { alertOf } from './alert-of.ts';
import { isToldElsewhere, leaveToOthers } from './moved-copy.ts';
import { finish, type Work } from '../outbox/outbox-work.ts';
import { isRepeat, postOrEdit } from '../outbox/post-or-edit.ts';
import { mayBeGathered, saysItAll, tellByDigest } from '../storm/prepare-digest.ts';
import type { Prepared } from '../outbox/prepare-post.ts';
import type { AlertPostDeps } from './alert-post.ts';
import { evidenceOf, routeByLookUp } from './route-by-look-up.ts';

/**
 * What a storm has kept waiting so long is counted by its event alone: look-ups one after the other would keep the
 * digest from catching up, and ten thousand of them take the better part of an hour.
 */
const lateMs = 60_000;

/** An event told once, or, where it has a card, a message that is edited as people act on it. */
export async function prepareAlert(deps: AlertPostDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const event = openEvent(deps.sealer, entry.key, record);
  const notTold = await prepareUntold(deps, work, event);
  if (notTold) return notTold;
  const kept = openEvidence(deps.sealer, entry.key, record);
  if (!isMessage(record)) return await routeByLookUp(deps, work, event, kept);
  const says = kept !== undefined || isEnough(deps, work, event);
  if (says) {
    const swallowed = await byDigest(deps, work, event, kept?.lookup);
    if (swallowed) return swallowed;
  }
  const posted = await evidenceOf(deps, work, event, kept);
  if (!posted) return { kind: 'settled' };
  await logOnce(deps, work, event, posted.lookup);
  if (!says) {
    const swallowed = await byDigest(deps, work, event, posted.lookup);
    if (swallowed) return swallowed;
  }
  return await tellSingly(deps, work, { event, posted, mayBeRepeat });
}

/** For a digest to tell it without a look-up, unless nothing but a look-up says by which rule it is told. */
function isEnough(deps: AlertPostDeps, { record }: Work, event: PaymentEvent): boolean {
  if (record.digest?.at !== undefined) return true;
  const isLate = deps.now() - record.receivedAtMs >= lateMs;
  return (saysItAll(event) || isLate) && !deps.needsLookUp(event);
}

async function tellSingly(
  deps: AlertPostDeps,
  work: Work,
  { event, posted, mayBeRepeat }: { event: PaymentEvent; posted: Evidence; mayBeRepeat: boolean },
): Promise<Prepared> {
  const { record } = work;
  const shown = isCard(event, record) ? await cardOf(deps, work, event, posted) : undefined;
  const { lookup } = shown?.evidence ?? posted;
  const routed = deps.route(withLookUp(event, lookup), record.receivedAtMs);
  if (await isToldElsewhere(deps, work, event, routed)) return await leaveToOthers(deps, work);
  const { channel, rule } = await destinationOf(deps, work, event, routed);
  const alert: Alert = {
    ...alertOf(deps, work, event, lookup),
    mayBeRepeat: isRepeat(work, mayBeRepeat),
    ...withoutUndefined({ route: routeOf(deps, record, rule, shown?.card), card: shown?.card }),
  };
  const prepared = await postOrEdit(deps, work, channel, deps.compose({ kind: 'alert', alert }));
  if (prepared.kind !== 'post') return prepared;
  // An edit says what the first post was told by, until somebody looks it up again.
  const evidence = sealEvidence(deps.sealer, work.entry.key, posted);
  return { ...prepared, keep: { logged: true, evidence } };
}

async function byDigest(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
  lookup: Lookup | undefined,
): Promise<Prepared | undefined> {
  if (!mayBeGathered(event, work.record, lookup)) return undefined;
  const known = lookup ? withLookUp(event, lookup) : event;
  const routed = deps.route(known, work.record.receivedAtMs);
  if (!work.record.digest && (await isToldElsewhere(deps, work, event, routed))) {
    await logOnce(deps, work, event, lookup);
    return await leaveToOthers(deps, work);
  }
  const to = (): Promise<Destination> => destinationOf(deps, work, event, routed);
  return await tellByDigest(deps, work, { event, lookup, to });
}

/** What is not to be told: what no channel gets, and what was told so long ago that its details go. */
async function prepareUntold(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
): Promise<Prepared | undefined> {
  const { untold } = work.record;
  return untold ? await logAlone(deps, work, event) : await prepareOldAlert(deps, work, event);
}

/** Nobody is told, so nobody asks the service about it either. */
async function logAlone(deps: AlertPostDeps, work: Work, event: PaymentEvent): Promise<Prepared> {
  await deps.logEvent(event, work.record.receivedAtMs);
  await finish(deps, work, { logged: true, misses: 0 }, 0);
  return { kind: 'settled' };
}

/**
 * As the post said it, whose time Slack names a message by, in seconds. What somebody has taken, or is over, calls
 * nobody: it may be posted only then.
 */
function routeOf(
  { now }: AlertPostDeps,
  { posted, replaced }: OutboxRecord,
  rule: AlertRule | undefined,
  shown: AlertCardShown | undefined,
): AlertRoute | undefined {
  const postedAtMs = posted ? Number(posted.ts) * 1_000 : now();
  const isTaken = shown !== undefined && shown.card.kind !== 'open';
  return rule && routeAt(rule, postedAtMs, !isTaken && replaced === undefined);
}

/** Failures alone are acted on. One from before there were cards is told as it was to be told. */
function isCard(event: PaymentEvent, record: OutboxRecord): boolean {
  return event.kind === 'payment_failed' && record.progress !== undefined;
}

async function cardOf(
  deps: AlertPostDeps,
  { entry, record }: Work,
  event: PaymentEvent,
  posted: Evidence,
): Promise<{ card: AlertCardShown; evidence: Evidence }> {
  if (!record.posted) {
    if (entry.key !== alertKey(event.key)) await deps.cards.join(event.key, entry.key);
    await deps.cards.linkFailure(event, posted.lookup, record.receivedAtMs);
  }
  const { card, charging, evidence: asked } = await deps.cards.read(event.key);
  const isNewer = asked !== undefined && asked.atMs > posted.atMs;
  const evidence = isNewer ? asked : posted;
  const shown: AlertCardShown = {
    id: event.key,
    card,
    canChargeAgain:
      card.kind === 'acknowledged' && !charging && (await canChargeAgain(deps, event, evidence.lookup)),
    ...withoutUndefined({
      charging,
      lookedUpAtMs: isNewer ? asked.atMs : undefined,
      replaced: record.replaced,
    }),
  };
  return { card: shown, evidence };
}

/** Only for a plain decline: what may have moved money is never charged again from here. */
async function canChargeAgain(deps: AlertPostDeps, event: PaymentEvent, lookup: Lookup): Promise<boolean> {
  const email = customerEmailOf(event, lookup);
  return email !== undefined && isDeclined({ event, lookup }) && (await deps.cards.knowsCardOf(email));
}

/**
 * Where it was to go when it came, as long as the rules of the moment send it there. When they do not any more,
 * a copy stays with its channel all the same, and the event's own record goes where they send it now and no copy
 * of it does.
 */
async function destinationOf(
  deps: AlertPostDeps,
  { entry, record }: Work,
  event: PaymentEvent,
  routed: readonly Destination[],
): Promise<Destination> {
  const same = routed.find(({ channel }) => channel === record.channel);
  if (same) return same;
  if (entry.key !== alertKey(event.key)) return { channel: record.channel };
  const copies = await Promise.all(
    routed.map(({ channel }) => deps.store.read(alertKey(event.key, channel))),
  );
  return routed.find((_, index) => !copies[index]) ?? { channel: record.channel };
}
