import type { Account } from '../../account.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { RetryVerdict } from '../../domain/decline-reason.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import {
  historyKey,
  hasChannel,
  type MessageRecord,
  openEvent,
  readMessageRecord,
} from '../../messages/message-record.ts';
import { type Outbox, type Work, finish, reschedule, areDetailsOver } from '../../messages/message-work.ts';
import type { Rendered, Views } from '../../messages/views.ts';
import type { AboutMessage } from '../../slack/kit/note.ts';
import type { Entry } from '../../store/store.ts';
import type { AlertCards, AlertStep, AlertStepBodies } from './alert-cards.ts';
import { type Evidence, newestOf, openEvidence, placeOf, sealEvidence } from './alert-record.ts';
import type { AlertRecovery } from './alert-recovery.ts';
import type { JudgeAgain } from './charge-again.ts';
import {
  type Alert,
  type AlertCardShown,
  type CardStep,
  contradicts,
  endsCard,
  holdEnd,
  knownDecline,
  outcomeAlone,
  recordOf,
  withoutDetails,
  withProvenOrder,
} from './alert.ts';
import { type Route, createEvidence, sendOn } from './route-event.ts';
import { routeAt } from './routing.ts';
import type { Storms } from './storm/storm.ts';

export type AlertShown = { kind: 'alert'; alert: Alert };

/** A step, for the alert's thread or for one person (`to`: Slack user id). */
export type AlertStepShown =
  | { kind: 'alert_note'; alert: Alert; step: CardStep }
  | { kind: 'alert_direct'; alert: Alert; step: CardStep; to: string; place?: MessagePlace };

/**
 * After this wait an alert in a storm is counted by its event alone: ten thousand look-ups one after the other take most of an
 * hour, and the digest would never catch up.
 */
const lateMs = 60_000;

/** `verdict`: the next try by the card's history. */
type Told = { event: PaymentEvent; lookup: Lookup; verdict?: RetryVerdict | undefined };

/**
 * Posts alerts and their steps. An alert goes where its rules say, in a storm's digest or in a message of its own, which is
 * edited as people act on it and loses its details when it is old.
 */
export function createTelling(
  kept: Pick<Outbox, 'detailsMs'> & Pick<Account, 'store' | 'sealer' | 'leaseMs' | 'rememberMs' | 'now'>,
  around: Pick<Account, 'place'> &
    Pick<Account['rules'], 'declines'> & {
      route: Route;
      lookUp: (event: PaymentEvent) => Promise<Lookup>;
      cards: Pick<AlertCards, 'read'> & { cases: Pick<AlertCards['cases'], 'apply'> };
      recovery: Pick<AlertRecovery, 'tieFailure'>;
      storms: Pick<Storms, 'join'>;
      judging: Pick<JudgeAgain, 'look'>;
      /** Whether the service can be asked about an event without a signed reference; absent: no. */
      canAskFor?: (event: PaymentEvent) => boolean;
      /** `/pay cards` works here, so messages about a missing token name it. */
      canListCards?: boolean;
    },
) {
  const { sealer, now } = kept;
  const { place, cards, recovery, storms } = around;
  const asking = createEvidence(kept, around);

  /** What an event's message says, without its state and rule. */
  function alertOf({ entry, record }: Work, { event, lookup, verdict }: Told): Alert {
    const [{ environment, account }, { receivedAtMs }] = [place, record];
    const told = { ...withProvenOrder(event, lookup), key: historyKey(entry.key, record) };
    const alert = { event: told, lookup, environment, account, receivedAtMs, mayBeRepeat: false };
    const declined = knownDecline(alert, around.declines, { nowMs: now(), verdict });
    const canLookUp = (told.orderReference === undefined && around.canAskFor?.(event)) || undefined;
    const canListCards = around.canListCards || undefined;
    return { ...alert, ...withoutUndefined({ canLookUp, canListCards, declined }) };
  }

  /** No channel gets it; a payment can still resolve it. */
  async function linkUntold(event: PaymentEvent, known: Evidence | undefined, atMs: number): Promise<void> {
    if (event.kind !== 'payment_failed') return;
    await recovery.tieFailure(event, known?.lookup ?? { kind: 'no_reference' }, atMs);
  }

  async function tell(work: Work, about: AboutMessage): Promise<Rendered<AlertShown>> {
    const { entry, record } = work;
    const event = openEvent(sealer, entry.key, record);
    const known = openEvidence(sealer, entry.key, record);
    const { routed, receivedAtMs } = record;
    if (!routed) {
      await asking.routeOrWait(work, event);
      return { kind: 'settled' };
    }
    if (routed.length === 0) {
      await linkUntold(event, known, receivedAtMs);
      return { kind: 'nothing' };
    }
    if (!hasChannel(record)) {
      await sendOn(kept, work, event, known);
      return { kind: 'settled' };
    }
    if (record.digest) return { kind: 'nothing' };
    if (record.posted && !record.isErased && areDetailsOver(kept, record))
      return await erase({ kept, cards }, work, event);
    const isAsked = !known && !isEnough(event, now() - receivedAtMs);
    const found = isAsked ? await asking.askOrWait(work, event) : known;
    if (isAsked && !found) return { kind: 'settled' };
    if (await tellByDigest(work, event, found?.lookup)) return { kind: 'settled' };
    // Each post looks up again; an edit shows what the post showed.
    const shown = isAsked || (known && record.posted) ? found : await asking.askOrWait(work, event);
    return shown ? await tellSingly(work, event, shown, about) : { kind: 'settled' };
  }

  /**
   * Whether a storm's digest tells it instead of its own message. One write puts it on the storm’s list, which the digest
   * counts. Later payments find it like any other. Not looked up if its event says enough or is late, to spare the service.
   */
  async function tellByDigest(work: Work, event: PaymentEvent, lookup: Lookup | undefined): Promise<boolean> {
    const { entry, record } = work;
    const { channel, routed: [to = { channel }] = [], posted, doubt, replaced, receivedAtMs } = record;
    const mayStand = (posted ?? doubt ?? replaced) !== undefined;
    if (mayStand || event.kind === 'payment_given_back' || !mayBeGathered(event, lookup)) return false;
    const storm = await storms.join(to, entry.key, event.kind);
    if (storm === undefined) return false;
    if (event.kind === 'payment_failed') {
      // Not asked again if not found, or a storm of ten thousand would ask for each.
      const found: Lookup = lookup && recordOf(lookup) ? lookup : { kind: 'no_reference' };
      await recovery.tieFailure(event, found, receivedAtMs, { storms: [storm] });
    }
    const atMs = now();
    const evidence = lookup && sealEvidence(sealer, entry.key, { lookup, atMs });
    const told = { digest: { storm, atMs }, refused: undefined, misses: 0, ...(evidence && { evidence }) };
    await finish(kept, work, told, 0);
    return true;
  }

  async function tellSingly(
    work: Work,
    event: PaymentEvent,
    posted: Evidence,
    { mayBeRepeat }: AboutMessage,
  ): Promise<Rendered<AlertShown>> {
    const { record } = work;
    const shown = event.kind === 'payment_failed' ? await cardOf(work, event, posted) : undefined;
    const { lookup } = shown?.evidence ?? posted;
    const rule = record.routed?.[0]?.rule;
    const { posted: stands, replaced } = record;
    // A taken or ended alert calls nobody; it may be posted late.
    const mayCall = replaced === undefined && (!shown || shown.card.card.kind === 'open');
    // As the post said it: a message's `ts` is its time in seconds.
    const route = rule && routeAt(rule, stands ? Number(stands.ts) * 1_000 : now(), mayCall);
    const alert: Alert = {
      ...alertOf(work, { event, lookup, verdict: shown?.verdict }),
      mayBeRepeat,
      ...withoutUndefined({ route, card: shown?.card }),
    };
    const post = { kind: 'alert', alert } as const;
    if (stands) return { kind: 'shown', post, ...(record.isErased && { ifRefused: 'leave' }) };
    // An edit keeps the first post's evidence until somebody looks up again.
    const evidence = sealEvidence(sealer, work.entry.key, posted);
    return { kind: 'shown', post, keep: { evidence } };
  }

  async function cardOf(
    { entry: { key }, record }: Work,
    event: PaymentEvent,
    posted: Evidence,
  ): Promise<{ card: AlertCardShown; evidence: Evidence; verdict?: RetryVerdict }> {
    const post = { key, rule: record.routed?.[0]?.rule };
    if (!record.posted)
      await recovery.tieFailure(event, posted.lookup, record.receivedAtMs, { storms: [], post });
    const { card, charging, evidence: asked } = await cards.read(event.key, { key, record });
    const evidence = newestOf([posted, asked]) ?? posted;
    const { receivedAtMs, replaced } = record;
    const failed = { event: withProvenOrder(event, evidence.lookup), evidence, receivedAtMs };
    const { verdict, offer } = endsCard(card) ? {} : await offered(around, failed);
    const shown = { charging, lookedUpAtMs: evidence === asked ? evidence.atMs : undefined, replaced };
    const rest = withoutUndefined({ again: charging ? undefined : offer, ...shown });
    return { card: { id: event.key, card, ...rest }, evidence, ...withoutUndefined({ verdict }) };
  }

  /** A step and its alert; undefined: the alert is forgotten. */
  async function readStep({ parent: key, step }: AlertStep) {
    const entry = await kept.store.read(key);
    if (!entry) return undefined;
    const parent = readMessageRecord(entry.value);
    const event = openEvent(sealer, key, parent);
    const asked = await cards.read(event.key);
    const evidence = newestOf([asked.evidence, openEvidence(sealer, key, parent)]);
    const lookup: Lookup = evidence?.lookup ?? { kind: 'no_reference' };
    const alert = alertOf({ entry, record: parent }, { event, lookup });
    return { step, parent, asked, alert, id: event.key, ...withoutUndefined({ evidence }) };
  }

  const views: Views<AlertStepBodies & { alert: unknown }, AlertShown | AlertStepShown> = {
    alert: (_event, work, about) => tell(work, about),
    /** A step in the thread. */
    async alert_note(body, { entry }) {
      const told = await readStep(body);
      // A digest has no thread per alert.
      if (!told || told.parent.digest) return { kind: 'nothing' };
      const { step, alert, asked } = told;
      // It was acknowledged before it was posted.
      if (step.kind === 'escalated' && asked.card.kind !== 'open') return { kind: 'nothing' };
      const below = { key: body.parent, after: stepsBefore(entry.key) };
      return { kind: 'shown', post: { kind: 'alert_note', alert, step }, below };
    },
    async alert_direct(body, { record: { channel: to } }) {
      const told = await readStep(body);
      return told ? { kind: 'shown', post: await directOf(told, to, around.judging) } : { kind: 'nothing' };
    },
  };
  return { views, lookUpAhead: (entry: Entry) => asking.lookUpAhead(entry) };
}

/**
 * Strips an old alert to its outcome and reference, in its records and its message: customer, money and the bank's words go.
 * The message still follows its state. Records first, so that no later edit shows the details again after a crash; the next
 * round, at once, edits the message.
 */
async function erase(
  {
    kept,
    cards,
  }: { kept: Parameters<typeof createTelling>[0]; cards: { cases: Pick<AlertCards['cases'], 'apply'> } },
  work: Work,
  event: PaymentEvent,
): Promise<Rendered<AlertShown>> {
  const { sealer } = kept;
  const { key } = work.entry;
  await cards.cases.apply(event.key, { kind: 'erased' });
  const found = openEvidence(sealer, key, work.record);
  const evidence =
    found && sealEvidence(sealer, key, { lookup: outcomeAlone(found.lookup), atMs: found.atMs });
  const sealed = sealer.seal(key, JSON.stringify(withoutDetails(event)));
  await reschedule(kept, work, { isErased: true, sealed, evidence }, { holdMs: 0 });
  return { kind: 'settled' };
}

/** A step for one person, with the buttons of the alert as it is. */
async function directOf(
  told: {
    step: CardStep;
    alert: Alert;
    /** Its buttons find it by this. */
    id: string;
    asked: Awaited<ReturnType<AlertCards['read']>>;
    evidence?: Evidence;
    parent: MessageRecord;
  },
  to: string,
  judging: Pick<JudgeAgain, 'look'>,
): Promise<Extract<AlertStepShown, { kind: 'alert_direct' }>> {
  const { step, parent, id, asked, evidence } = told;
  const { card: seen, charging } = asked;
  const { event, receivedAtMs } = told.alert;
  const failed = { event: { ...event, key: id }, receivedAtMs, ...withoutUndefined({ evidence }) };
  const { offer } = charging || endsCard(seen) ? {} : await judging.look(failed);
  const card = { id, card: seen, ...withoutUndefined({ again: offer }) };
  const alert = { ...told.alert, card };
  return { kind: 'alert_direct', to, alert, step, ...withoutUndefined({ place: placeOf(parent) }) };
}

/**
 * The next try by the card’s history, and the alert's offer. *Charge again…* replaces the payment link when the card’s hold
 * ends.
 */
async function offered(
  {
    judging,
    cards,
  }: { judging: Pick<JudgeAgain, 'look'>; cards: { cases: Pick<AlertCards['cases'], 'apply'> } },
  failed: Parameters<JudgeAgain['look']>[0],
): ReturnType<JudgeAgain['look']> {
  const looked = await judging.look(failed);
  const untilMs = looked.offer === 'link' && looked.verdict ? holdEnd(looked.verdict) : undefined;
  if (untilMs !== undefined) await cards.cases.apply(failed.event.key, { kind: 'held', untilMs });
  return looked;
}

/** Enough for a digest without a look-up. No event proves a payment. */
function isEnough({ kind, amountMinor, currency, reason }: PaymentEvent, waitedMs: number): boolean {
  const saysItAll =
    kind === 'payment_failed' && amountMinor !== undefined && currency !== undefined && reason !== undefined;
  return saysItAll || waitedMs >= lateMs;
}

/**
 * Whether a digest may tell it: every failure, and a payment that needs nobody. An unconfirmed payment, or one whose card
 * couldn't be kept, gets its own message.
 */
function mayBeGathered({ kind, cardSaved }: PaymentEvent, lookup: Lookup | undefined): boolean {
  if (kind === 'payment_failed') return true;
  if (cardSaved && cardSaved.kind !== 'kept') return false;
  return !contradicts(lookup?.kind);
}

/** Keys of the earlier steps, the nearest first. */
function stepsBefore(key: string): string[] {
  const [, name, number] = /^(.*#)(\d+)$/.exec(key) ?? [];
  const count = name === undefined ? 0 : Number(number) - 1;
  return Array.from({ length: count }, (_, index) => `${name}${count - index}`);
}
