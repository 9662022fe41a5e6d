import { handlersOf, type AlertCard } from '../domain/alert-card.ts';
import { routeAt, withLookUp, type AlertRule, type Destination } from '../domain/alert-route.ts';
import {
  isDeclined,
  type Alert,
  type AlertCardShown,
  type AlertRoute,
  type Lookup,
} from '../domain/alert.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import { logOnce } from './log-once.ts';
import {
  alertKey,
  openEvent,
  openEvidence,
  sealEvidence,
  type Evidence,
  type OutboxRecord,
} from './outbox.ts';
import { prepareOldAlert } from './old-alert.ts';
import { alertOf } from './alert-of.ts';
import { tellLateToken } from './late-token.ts';
import { isToldElsewhere } from './moved-copy.ts';
import { again, finish, type Work } from './outbox-work.ts';
import { followedByEdit, isRepeat, postOrEdit, settle } from './post-or-edit.ts';
import { mayBeGathered, saysItAll, tellByDigest } from './prepare-digest.ts';
import type { Composed, PrepareDeps, Prepared } from './prepare-post.ts';
import { storeCopies } from './route-event.ts';

/** What the message of an alert needs of its card. All of it throws StoreUnavailable. */
export type CardsForPosts = {
  read(id: string): Promise<{ card: AlertCard; evidence?: Evidence }>;
  join(id: string, message: string): Promise<void>;
  /** The message is about to show the card: its reaction follows; `ts`: where it stands, if it does. */
  mark(id: string, message: string, ts: string | undefined): Promise<void>;
  /** From now on a later payment resolves the failure; one that came before it does so now. */
  linkFailure(event: PaymentEvent, lookup: Lookup, receivedAtMs: number): Promise<void>;
  /** Forgets what was looked up anew by a person’s wish; the card’s state stays. */
  erase(id: string): Promise<void>;
  /** Whether a saved card of this customer is remembered. */
  knowsCardOf(email: string): Promise<boolean>;
};

/** A service that is away delays an alert by this much at most; then it is told unchecked. */
const lookUpPatienceMs = 10_000;
const lookUpAgainMs = 2_000;
/**
 * What a storm has kept waiting so long is counted by its event alone: look-ups one after the other would keep the
 * digest from catching up, and ten thousand of them take the better part of an hour.
 */
const lateMs = 60_000;

/** An event told once, or, where it has a card, a message that is edited as people act on it. */
export async function prepareAlert(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const event = openEvent(deps.sealer, entry.key, record);
  const notTold = await prepareUntold(deps, work, event);
  if (notTold) return notTold;
  const kept = openEvidence(deps.sealer, entry.key, record);
  const says = record.digest?.isCounted === true || kept !== undefined || isEnough(deps, work, event);
  if (says) {
    const swallowed = await byDigest(deps, work, event, kept?.lookup);
    if (swallowed) return swallowed;
  }
  const posted = await evidenceOf(deps, work, event, kept);
  if (!posted) return { kind: 'settled' };
  await logOnce(deps, work, event, posted.lookup);
  if (record.channel === '') return await routeLater(deps, work, event, posted);
  if (!says) {
    const swallowed = await byDigest(deps, work, event, posted.lookup);
    if (swallowed) return swallowed;
  }
  return await tellSingly(deps, work, { event, posted, mayBeRepeat });
}

/** For a digest to tell it without a look-up, unless nothing but a look-up says by which rule it is told. */
function isEnough(deps: PrepareDeps, { record }: Work, event: PaymentEvent): boolean {
  const isLate = deps.now() - record.receivedAtMs >= lateMs;
  return (saysItAll(event) || isLate) && !deps.needsLookUp(event);
}

async function tellSingly(
  deps: PrepareDeps,
  work: Work,
  { event, posted, mayBeRepeat }: { event: PaymentEvent; posted: Evidence; mayBeRepeat: boolean },
): Promise<Prepared> {
  const { record } = work;
  const shown = isCard(event, record) ? await cardOf(deps, work, event, posted) : undefined;
  const { lookup } = shown?.evidence ?? posted;
  const routed = deps.route(withLookUp(event, lookup), record.receivedAtMs);
  await bringUpToDate(deps, work, event, routed);
  if (await isToldElsewhere(deps, work, event, routed)) return await settle(deps, work);
  const { channel, rule } = await destinationOf(deps, work, event, routed);
  const alert: Alert = {
    ...alertOf(deps, work, event, lookup),
    mayBeRepeat: isRepeat(work, mayBeRepeat),
    ...withoutUndefined({ route: routeOf(deps, record, rule) }),
  };
  if (shown) return await postCard(deps, work, { channel, alert, card: shown.card, posted });
  const message = deps.compose({ kind: 'alert', alert });
  return await postPlain(deps, work, { channel, message, event, posted });
}

/** Edited only once its card token came after all; then it shows what the first post was told by. */
async function postPlain(
  deps: PrepareDeps,
  work: Work,
  made: { channel: string; message: Composed; event: PaymentEvent; posted: Evidence },
): Promise<Prepared> {
  const { channel, message, event, posted } = made;
  const prepared = await postOrEdit(deps, work, channel, message);
  if (prepared.kind !== 'post') return prepared;
  const mayBeEdited = event.cardSaved?.kind === 'no_token';
  const kept = mayBeEdited ? { evidence: sealEvidence(deps.sealer, work.entry.key, posted) } : {};
  return { ...prepared, keep: { logged: true, ...kept } };
}

/** A card token that came late is on the event’s own record, and the messages of further channels follow. */
async function bringUpToDate(
  deps: PrepareDeps,
  { entry, record }: Work,
  { kind, key, cardSaved }: PaymentEvent,
  destinations: readonly Destination[],
): Promise<void> {
  if (kind !== 'payment_success' || !record.progress || !cardSaved || entry.key !== alertKey(key)) return;
  await Promise.all(
    destinations.map(({ channel }) => tellLateToken(deps, alertKey(key, channel), cardSaved)),
  );
}

async function byDigest(
  deps: PrepareDeps,
  work: Work,
  event: PaymentEvent,
  lookup: Lookup | undefined,
): Promise<Prepared | undefined> {
  if (!mayBeGathered(event, work.record, lookup)) return undefined;
  const known = lookup ? withLookUp(event, lookup) : event;
  const routed = deps.route(known, work.record.receivedAtMs);
  await bringUpToDate(deps, work, event, routed);
  const to = (): Promise<Destination> => destinationOf(deps, work, event, routed);
  return await tellByDigest(deps, work, { event, lookup, to });
}

async function postCard(
  deps: PrepareDeps,
  work: Work,
  made: { channel: string; alert: Alert; card: AlertCardShown; posted: Evidence },
): Promise<Prepared> {
  const { channel, alert, card, posted } = made;
  const { entry } = work;
  const compose = (isFirst: boolean): Composed =>
    deps.compose({ kind: 'alert', alert: { ...alert, card: { ...card, isFirst } } });
  const isIncomplete = card.isFirst && namesPeople(card.card);
  const message = isIncomplete ? followedByEdit(compose) : compose(card.isFirst);
  const prepared = await postOrEdit(deps, work, channel, message);
  const keep = {
    evidence: sealEvidence(deps.sealer, entry.key, posted),
    sent: isIncomplete ? undefined : message.digest,
    logged: true,
  };
  return prepared.kind === 'post' ? { ...prepared, keep } : prepared;
}

/**
 * An event that is routed by what the look-up says: from here on the records of its channels tell it, and its own
 * is its dedupe memory alone. What the look-up said is on record before anything follows from it: a crash in between
 * is made good by the next round, which must not send it elsewhere.
 */
async function routeLater(
  deps: PrepareDeps,
  work: Work,
  event: PaymentEvent,
  found: Evidence,
): Promise<Prepared> {
  const { fingerprint, receivedAtMs, evidence } = work.record;
  if (evidence === undefined) {
    const kept = { evidence: sealEvidence(deps.sealer, work.entry.key, found) };
    await again(deps, work, kept, { holdMs: 0 });
    return { kind: 'settled' };
  }
  const destinations = deps.route(withLookUp(event, found.lookup), receivedAtMs);
  await storeCopies(deps, { event, fingerprint, receivedAtMs, found }, destinations);
  await bringUpToDate(deps, work, event, destinations);
  await finish(deps, work, { logged: true, misses: 0 }, 0);
  return { kind: 'settled' };
}

/** What is not to be told: what no channel gets, and what was told so long ago that its details go. */
async function prepareUntold(
  deps: PrepareDeps,
  work: Work,
  event: PaymentEvent,
): Promise<Prepared | undefined> {
  const { untold } = work.record;
  return untold ? await logAlone(deps, work, event) : await prepareOldAlert(deps, work, event);
}

/** Nobody is told, so nobody asks the service about it either. */
async function logAlone(deps: PrepareDeps, work: Work, event: PaymentEvent): Promise<Prepared> {
  await deps.logEvent(event, work.record.receivedAtMs);
  await finish(deps, work, { logged: true, misses: 0 }, 0);
  return { kind: 'settled' };
}

/** As the post said it, whose time Slack names a message by, in seconds. */
function routeOf(
  { now }: PrepareDeps,
  { posted, replaced }: OutboxRecord,
  rule: AlertRule | undefined,
): AlertRoute | undefined {
  const postedAtMs = posted ? Number(posted.ts) * 1_000 : now();
  return rule && routeAt(rule, postedAtMs, replaced !== undefined);
}

/** Failures alone are acted on. One from before there were cards is told as it was to be told. */
function isCard(event: PaymentEvent, record: OutboxRecord): boolean {
  return event.kind === 'payment_failed' && record.progress !== undefined;
}

/**
 * Looked up anew for every post; an edit shows what the post showed, and a routing ends as it began. Undefined: the
 * alert waits for the service.
 */
async function evidenceOf(
  deps: PrepareDeps,
  work: Work,
  event: PaymentEvent,
  kept: Evidence | undefined,
): Promise<Evidence | undefined> {
  const { record } = work;
  if (kept && (record.posted || record.channel === '')) return kept;
  const lookup = await deps.lookUp(event);
  const waitedMs = deps.now() - record.receivedAtMs;
  // Below zero: the clocks differ, or one was put back. Nobody knows how long that goes on.
  if (lookup.kind === 'unchecked' && waitedMs >= 0 && waitedMs < lookUpPatienceMs) {
    await again(deps, work, {}, { holdMs: lookUpAgainMs });
    return undefined;
  }
  return { lookup, atMs: deps.now() };
}

async function cardOf(
  deps: PrepareDeps,
  { entry, record }: Work,
  event: PaymentEvent,
  posted: Evidence,
): Promise<{ card: AlertCardShown; evidence: Evidence }> {
  const isFirst = !record.posted;
  if (isFirst) {
    if (entry.key !== alertKey(event.key)) await deps.cards.join(event.key, entry.key);
    await deps.cards.linkFailure(event, posted.lookup, record.receivedAtMs);
  }
  const { card, evidence: asked } = await deps.cards.read(event.key);
  if (card.kind !== 'open') await deps.cards.mark(event.key, entry.key, record.posted?.ts);
  const isNewer = asked !== undefined && asked.atMs > posted.atMs;
  const evidence = isNewer ? asked : posted;
  const shown: AlertCardShown = {
    id: event.key,
    card,
    isFirst,
    canChargeAgain: card.kind === 'acknowledged' && (await canChargeAgain(deps, event, evidence.lookup)),
    ...withoutUndefined({ lookedUpAtMs: isNewer ? asked.atMs : undefined, replaced: record.replaced }),
  };
  return { card: shown, evidence };
}

/** Only for a plain decline: what may have moved money is never charged again from here. */
async function canChargeAgain(deps: PrepareDeps, event: PaymentEvent, lookup: Lookup): Promise<boolean> {
  const email = customerEmailOf(event, lookup);
  return email !== undefined && isDeclined({ event, lookup }) && (await deps.cards.knowsCardOf(email));
}

/** The looked-up record's, where it is of this order; else the signed event's. */
export function customerEmailOf(event: PaymentEvent, lookup: Lookup): string | undefined {
  const found = 'transaction' in lookup && lookup.evidence.reference.holds ? lookup.transaction : undefined;
  return found?.customerEmail ?? event.customerEmail;
}

function namesPeople(card: AlertCard): boolean {
  return handlersOf(card).length > 0 || card.kind === 'closed';
}

/**
 * Where it was to go when it came, as long as the rules of the moment send it there. When they do not any more,
 * a copy stays with its channel all the same, and the event's own record goes where they send it now and no copy
 * of it does.
 */
async function destinationOf(
  deps: PrepareDeps,
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
