import { routeAt, type RoutedRule } from '../../domain/alert-route.ts';
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
  destinationOf,
  openEvent,
  openEvidence,
  sealEvidence,
  type Evidence,
  type OutboxRecord,
} from '../outbox/outbox.ts';
import { prepareOldAlert } from './old-alert.ts';
import { alertOf } from './alert-of.ts';
import { finish, type Work } from '../outbox/outbox-work.ts';
import { isRepeat, postOrEdit } from '../outbox/post-or-edit.ts';
import { mayBeGathered, saysItAll, tellByDigest } from '../storm/prepare-digest.ts';
import type { Prepared } from '../outbox/prepare-post.ts';
import type { AlertPostDeps } from './alert-post.ts';
import { evidenceOf, routeByLookUp, storeCopies } from './route-event.ts';

/**
 * What a storm has kept waiting so long is counted by its event alone: look-ups one after the other would keep the
 * digest from catching up, and ten thousand of them take the better part of an hour.
 */
const lateMs = 60_000;

/** An event told once, or, where it has a card, a message that is edited as people act on it. */
export async function prepareAlert(deps: AlertPostDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const event = openEvent(deps.sealer, entry.key, record);
  const kept = openEvidence(deps.sealer, entry.key, record);
  const { routed, fingerprint, receivedAtMs, logged } = record;
  if (!routed) return await routeByLookUp(deps, work, event, kept);
  if (routed.length === 0) return await logAlone(deps, work, event, kept?.lookup);
  const old = await prepareOldAlert(deps, work, event);
  if (old) return old;
  if (!logged)
    await storeCopies(deps, { event, fingerprint, receivedAtMs, ...(kept && { found: kept }) }, routed);
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

/** For a digest to tell it without a look-up. */
function isEnough(deps: AlertPostDeps, { record }: Work, event: PaymentEvent): boolean {
  if (record.digest?.at !== undefined) return true;
  return saysItAll(event) || deps.now() - record.receivedAtMs >= lateMs;
}

async function tellSingly(
  deps: AlertPostDeps,
  work: Work,
  { event, posted, mayBeRepeat }: { event: PaymentEvent; posted: Evidence; mayBeRepeat: boolean },
): Promise<Prepared> {
  const { record } = work;
  const shown = event.kind === 'payment_failed' ? await cardOf(deps, work, event, posted) : undefined;
  const { lookup } = shown?.evidence ?? posted;
  const { channel, rule } = destinationOf(record);
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
  return await tellByDigest(deps, work, { event, lookup, to: destinationOf(work.record) });
}

/** Nobody is told, so nobody asks the service about it either. */
async function logAlone(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
  lookup: Lookup | undefined,
): Promise<Prepared> {
  await deps.logEvent(event, work.record.receivedAtMs, lookup);
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
  rule: RoutedRule | undefined,
  shown: AlertCardShown | undefined,
): AlertRoute | undefined {
  const postedAtMs = posted ? Number(posted.ts) * 1_000 : now();
  const isTaken = shown !== undefined && shown.card.kind !== 'open';
  return rule && routeAt(rule, postedAtMs, !isTaken && replaced === undefined);
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
