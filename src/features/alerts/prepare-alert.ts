import { routeAt } from './routing.ts';
import type { RoutedRule } from '../../domain/alert-route.ts';
import {
  contradicts,
  customerEmailOf,
  isDeclined,
  outcomeAlone,
  recordOf,
  withoutDetails,
  type Alert,
  type AlertCardShown,
} from './alert.ts';
import type { AlertRoute, Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import {
  type AlertPostDeps,
  type AlertShown,
  type Evidence,
  alertOf,
  destinationOf,
  openEvidence,
  sealEvidence,
} from './alert-record.ts';
import { isMessage, openEvent, type MessageRecord } from '../../messages/message-record.ts';
import { again, finish, isOld, type Work } from '../../messages/message-work.ts';
import type { Rendered, Said } from '../../messages/views.ts';
import { evidenceOf, routeByLookUp, sendOn } from './route-event.ts';

/**
 * What a storm has kept waiting so long is counted by its event alone: look-ups one after the other would keep the
 * digest from catching up, and ten thousand of them take the better part of an hour.
 */
const lateMs = 60_000;

/** An event told once, or, where it has a card, a message that is edited as people act on it. */
export async function prepareAlert(
  deps: AlertPostDeps,
  work: Work,
  said: Said,
): Promise<Rendered<AlertShown>> {
  const { entry, record } = work;
  const event = openEvent(deps.sealer, entry.key, record);
  const kept = openEvidence(deps.sealer, entry.key, record);
  const { routed, fingerprint = '', receivedAtMs } = record;
  if (!routed) return await routeByLookUp(deps, work, event);
  if (routed.length === 0) {
    // A mute keeps it from its channel, and a payment resolves it all the same.
    const unchecked = { kind: 'unchecked', failure: 'network' } as const;
    if (event.kind === 'payment_failed') await deps.cards.linkFailure(event, unchecked, receivedAtMs);
    return { kind: 'nothing' };
  }
  if (!isMessage(record)) {
    const stored = { event, fingerprint, receivedAtMs, ...(kept && { found: kept }) };
    return await sendOn(deps, work, stored, routed);
  }
  if (record.digest) return { kind: 'nothing' };
  if (record.posted && !record.isErased && isOld(deps, record)) return await erase(deps, work, event);
  const says = kept !== undefined || isEnough(deps, work, event);
  const found = says ? kept : await evidenceOf(deps, work, event, kept);
  if (!says && !found) return { kind: 'settled' };
  const lookup = found?.lookup;
  if (await tellByDigest(deps, work, event, lookup)) return { kind: 'settled' };
  const posted = says ? await evidenceOf(deps, work, event, kept) : found;
  if (!posted) return { kind: 'settled' };
  return await tellSingly(deps, work, { event, posted, said });
}

/** For a digest to tell it without a look-up. No event proves a payment. */
function isEnough(deps: AlertPostDeps, { record }: Work, event: PaymentEvent): boolean {
  const { kind, amountMinor, currency, reason } = event;
  const saysItAll =
    kind === 'payment_failed' && amountMinor !== undefined && currency !== undefined && reason !== undefined;
  return saysItAll || deps.now() - record.receivedAtMs >= lateMs;
}

/**
 * Whether a storm's digest tells it instead of a message of its own. One write puts it on the storm’s list, from which
 * the digest counts it. It is linked to later payments like any other. Not looked up where its event says enough or is
 * late: a storm is when the service has enough to do.
 */
async function tellByDigest(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
  lookup: Lookup | undefined,
): Promise<boolean> {
  const { entry, record } = work;
  const { posted, doubt, replaced, receivedAtMs } = record;
  const mayStand = (posted ?? doubt ?? replaced) !== undefined;
  if (mayStand || !mayBeGathered(event, lookup)) return false;
  const storm = await deps.storms.ask(destinationOf(record), entry.key, event.kind);
  if (storm === undefined) return false;
  if (event.kind === 'payment_failed') {
    // What was not found is not asked for again, or a storm of ten thousand would ask for each.
    const found: Lookup = lookup && recordOf(lookup) ? lookup : { kind: 'no_reference' };
    await deps.cards.linkFailure(event, found, receivedAtMs, storm);
  }
  const atMs = deps.now();
  const evidence = lookup && sealEvidence(deps.sealer, entry.key, { lookup, atMs });
  const told = { digest: { storm, atMs }, refused: undefined, misses: 0, ...(evidence && { evidence }) };
  await finish(deps, work, told, 0);
  return true;
}

/**
 * Whether a digest may tell it: every failure, and a payment that asks nobody for anything. One that its look-up does
 * not confirm, or whose card could not be kept, is told on its own.
 */
function mayBeGathered({ kind, cardSaved }: PaymentEvent, lookup: Lookup | undefined): boolean {
  if (kind === 'payment_failed') return true;
  if (cardSaved && cardSaved.kind !== 'kept') return false;
  return !contradicts(lookup?.kind);
}

async function tellSingly(
  deps: AlertPostDeps,
  work: Work,
  { event, posted, said }: { event: PaymentEvent; posted: Evidence; said: Said },
): Promise<Rendered<AlertShown>> {
  const { record } = work;
  const shown = event.kind === 'payment_failed' ? await cardOf(deps, work, event, posted) : undefined;
  const { lookup } = shown?.evidence ?? posted;
  const { rule } = destinationOf(record);
  const alert: Alert = {
    ...alertOf(deps, work, event, lookup),
    mayBeRepeat: said.mayBeRepeat,
    ...withoutUndefined({ route: routeOf(deps, record, rule, shown?.card), card: shown?.card }),
  };
  const post = { kind: 'alert', alert } as const;
  if (record.posted) return { kind: 'shown', post };
  // An edit says what the first post was told by, until somebody looks it up again.
  const evidence = sealEvidence(deps.sealer, work.entry.key, posted);
  return { kind: 'shown', post, keep: { evidence } };
}

/**
 * As the post said it, whose time Slack names a message by, in seconds. What somebody has taken, or is over, calls
 * nobody: it may be posted only then.
 */
function routeOf(
  { now }: AlertPostDeps,
  { posted, replaced }: MessageRecord,
  rule: RoutedRule | undefined,
  shown: AlertCardShown | undefined,
): AlertRoute | undefined {
  const postedAtMs = posted ? Number(posted.ts) * 1_000 : now();
  const isTaken = shown !== undefined && shown.card.kind !== 'open';
  return rule && routeAt(rule, postedAtMs, !isTaken && replaced === undefined);
}

async function cardOf(
  deps: AlertPostDeps,
  { record }: Work,
  event: PaymentEvent,
  posted: Evidence,
): Promise<{ card: AlertCardShown; evidence: Evidence }> {
  if (!record.posted) await deps.cards.linkFailure(event, posted.lookup, record.receivedAtMs);
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
 * An alert that has got so old that its message says its outcome and reference alone, and its records no more than that:
 * customer, money and the words of bank and gateway go from both. It goes on following its card. The store first:
 * whatever ends the process then, no later edit shows the details again. The next round, at once, edits the message.
 */
async function erase(deps: AlertPostDeps, work: Work, event: PaymentEvent): Promise<Rendered<AlertShown>> {
  const { key } = work.entry;
  await deps.cards.erase(event.key);
  const evidence = openEvidence(deps.sealer, key, work.record);
  const left = {
    isErased: true,
    sealed: deps.sealer.seal(key, JSON.stringify(withoutDetails(event))),
    evidence:
      evidence &&
      sealEvidence(deps.sealer, key, { lookup: outcomeAlone(evidence.lookup), atMs: evidence.atMs }),
  };
  await again(deps, work, left, { holdMs: 0 });
  return { kind: 'settled' };
}
