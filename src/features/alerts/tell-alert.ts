import type { Account } from '../../account.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { RetryVerdict } from '../../domain/decline-reason.ts';
import { withoutUndefined } from '../../domain/json.ts';
import {
  type Remembering,
  type Work,
  areDetailsOver,
  findMessageRecord,
  finish,
  hasChannel,
  historyKey,
  messageKey,
  openEvent,
  reschedule,
} from '../../messages/message-record.ts';
import type { Rendered, Renders } from '../../messages/deliver.ts';
import type { PostAttempt } from '../../slack/kit/note.ts';
import type { AlertCases, AlertStepBody, AlertStepBodies } from './alert-cases.ts';
import { alertDirectMessage, alertMessage, alertNoteMessage } from './alert-message.ts';
import type { AlertRecovery } from './alert-recovery.ts';
import type { JudgeAgain } from './charge-again.ts';
import {
  type Alert,
  type AlertMessage,
  type AlertStatus,
  type Evidence,
  mentionedUsers,
  contradicts,
  isEnded,
  holdEnd,
  isMoneyStep,
  knownDecline,
  newestOf,
  openEvidence,
  outcomeAlone,
  placeOf,
  recordOf,
  sealEvidence,
  withProvenOrder,
  withoutDetails,
} from './alert.ts';
import { createLookUps } from './look-up-event.ts';
import { sendToChannels } from './receive-event.ts';
import { type Route, routeAt } from './route-event.ts';
import { isStormOf, type Storms } from './storm/storm.ts';

/**
 * After this wait an alert in a storm is counted without a look-up: ten thousand look-ups take most of an hour, and the digest
 * would never catch up.
 */
const lateMs = 60_000;

/**
 * Renders alerts and their steps. An alert goes where its rules say: into a storm's digest, or into a message of its own that
 * is edited as people act on it, and loses its details when it is old.
 */
export function createTelling(
  account: Pick<Remembering, 'detailsMs'> &
    Pick<Account, 'store' | 'sealer' | 'leaseMs' | 'rememberMs' | 'now'>,
  needs: Pick<Account, 'shownAccount'> &
    Pick<Account['rules'], 'declines'> & {
      route: Route;
      lookUp: (event: PaymentEvent) => Promise<Lookup>;
      alerts: Pick<AlertCases, 'read' | 'cases'>;
      recovery: Pick<AlertRecovery, 'matchFailure'>;
      storms: Pick<Storms, 'join' | 'recount'>;
      judging: Pick<JudgeAgain, 'nextTry'>;
      /** Whether the service can be asked about an event without a signed reference. */
      canAskFor: (event: PaymentEvent) => boolean;
    },
) {
  const { sealer, now } = account;
  const { alerts, recovery, storms } = needs;
  const lookUps = createLookUps(account, needs);

  /** The content of an alert, without its status and rule. `verdict`: the next try by the saved card's history. */
  function alertOf(
    { key, record }: AlertMessage,
    { event, lookup, verdict }: { event: PaymentEvent; lookup: Lookup; verdict?: RetryVerdict | undefined },
  ): Alert {
    const { environment, account: name, canListCards } = needs.shownAccount;
    const { receivedAtMs } = record;
    const named = { ...withProvenOrder(event, lookup), key: historyKey(key, record) };
    const alert = { event: named, lookup, environment, account: name, receivedAtMs, mayBeRepeat: false };
    const declined = knownDecline(alert, needs.declines, { nowMs: now(), verdict });
    const canLookUp = named.orderReference === undefined && needs.canAskFor(event);
    return { ...alert, canLookUp, ...withoutUndefined({ canListCards, declined }) };
  }

  async function render(work: Work, about: PostAttempt): Promise<Rendered> {
    const { entry, record } = work;
    const event = openEvent(sealer, entry.key, record);
    const known = openEvidence(sealer, entry.key, record);
    const { routed } = record;
    if (!routed) {
      await lookUps.routeOrWait(work, event);
      return { kind: 'written' };
    }
    if (routed.length === 0) {
      // A payment can resolve a failure that no channel gets.
      const lookup = known?.lookup ?? { kind: 'no_reference' };
      if (event.kind === 'payment_failed') await recovery.matchFailure(event, lookup, record.receivedAtMs);
      return { kind: 'nothing' };
    }
    if (!hasChannel(record)) {
      await sendToChannels(account, work, event, known);
      return { kind: 'written' };
    }
    if (record.digest) return { kind: 'nothing' };
    if (record.posted && !record.isErased && areDetailsOver(account, record))
      return await erase({ account, alerts }, work, event);
    return await lookUpAndRender(work, event, known, about);
  }

  async function lookUpAndRender(
    work: Work,
    event: PaymentEvent,
    known: Evidence | undefined,
    about: PostAttempt,
  ): Promise<Rendered> {
    const { receivedAtMs, posted } = work.record;
    const needsLookUp = !known && !canCountWithoutLookUp(event, now() - receivedAtMs);
    const found = needsLookUp ? await lookUps.askOrWait(work, event) : known;
    if (needsLookUp && !found) return { kind: 'written' };
    if (await addToDigest(work, event, found?.lookup)) return { kind: 'written' };
    // A post shows a look-up of now; an edit shows the look-up of the post.
    const isCurrent = needsLookUp || (known && posted);
    const evidence = isCurrent ? found : await lookUps.askOrWait(work, event);
    return evidence ? await renderAlert(work, event, evidence, about) : { kind: 'written' };
  }

  /**
   * Whether a storm's digest counts the alert instead of its own message. Later payments find it like any other. An event that
   * says enough, or is late, isn't looked up, to spare the service.
   */
  async function addToDigest(work: Work, event: PaymentEvent, lookup: Lookup | undefined): Promise<boolean> {
    const { entry, record } = work;
    const { channel, routed: [to = { channel }] = [], posted, doubt, replaced, receivedAtMs } = record;
    const mayBePosted = (posted ?? doubt ?? replaced) !== undefined;
    if (mayBePosted || event.kind === 'payment_given_back' || !mayBeGathered(event, lookup)) return false;
    const joined = await storms.join(to, entry.key, event.kind);
    const storm = joined ?? (await joinedBefore(work, event, to.channel));
    if (storm === undefined) return false;
    if (event.kind === 'payment_failed') {
      // As `no_reference`, so that it isn't looked up again: a storm of ten thousand would look up each.
      const found: Lookup = lookup && recordOf(lookup) ? lookup : { kind: 'no_reference' };
      await recovery.matchFailure(event, found, receivedAtMs, { storms: [storm] });
    }
    const atMs = now();
    const evidence = lookup && sealEvidence(sealer, entry.key, { lookup, atMs });
    const counted = { digest: { storm, atMs }, refused: undefined, misses: 0, ...(evidence && { evidence }) };
    await finish(account, work, counted, 0);
    if (joined === undefined) await storms.recount(storm);
    return true;
  }

  /**
   * The storm that an earlier worker listed the alert in before it died. Its digest counts the alert even if the storm is over by
   * now: posted instead, a listed alert is missing among the open alerts.
   */
  async function joinedBefore(
    { entry, record }: Work,
    event: PaymentEvent,
    channel: string,
  ): Promise<string | undefined> {
    const isFirstWorker = entry.attempts <= record.turns + 1;
    if (isFirstWorker || event.kind !== 'payment_failed') return undefined;
    const { storms: ids = [] } = (await alerts.cases.find(event.key)) ?? {};
    const id = ids.find((storm) => isStormOf(channel, storm));
    return id !== undefined && (await storms.recount(id)) ? id : undefined;
  }

  /** `evidence`: the look-up of the post. */
  async function renderAlert(
    work: Work,
    event: PaymentEvent,
    evidence: Evidence,
    { mayBeRepeat }: PostAttempt,
  ): Promise<Rendered> {
    const { posted, replaced, routed, isErased } = work.record;
    const failed = event.kind === 'payment_failed' ? await statusOf(work, event, evidence) : undefined;
    const { lookup } = failed?.evidence ?? evidence;
    const rule = routed?.[0]?.rule;
    // An alert that is acknowledged or ended before its post calls nobody.
    const mayCall = replaced === undefined && (!failed || failed.status.state.kind === 'open');
    // An edit says what the post said. A message's `ts` is its time in seconds.
    const route = rule && routeAt(rule, posted ? Number(posted.ts) * 1_000 : now(), mayCall);
    const alert: Alert = {
      ...alertOf({ key: work.entry.key, record: work.record }, { event, lookup, verdict: failed?.verdict }),
      mayBeRepeat,
      ...withoutUndefined({ route, status: failed?.status }),
    };
    const shown = {
      kind: 'shown',
      message: alertMessage(alert),
      calls: mentionedUsers(route?.mention),
    } as const;
    if (posted) return { ...shown, ...(isErased && { ifRefused: 'leave' }) };
    return { ...shown, evidence: sealEvidence(sealer, work.entry.key, evidence) };
  }

  /** The alert's state, and its newest look-up: a person may have looked up again. */
  async function statusOf(
    { entry: { key }, record }: Work,
    event: PaymentEvent,
    ofPost: Evidence,
  ): Promise<{ status: AlertStatus; evidence: Evidence; verdict?: RetryVerdict }> {
    const { receivedAtMs, replaced, routed } = record;
    if (!record.posted) {
      const post = { key, rule: routed?.[0]?.rule };
      await recovery.matchFailure(event, ofPost.lookup, receivedAtMs, { post });
    }
    const { state, charging, evidence: asked } = await alerts.read(event.key, { key, record });
    const evidence = newestOf([ofPost, asked]) ?? ofPost;
    const failed = { event: withProvenOrder(event, evidence.lookup), evidence, receivedAtMs };
    const { verdict, offer } = isEnded(state) ? {} : await offered(needs, failed);
    const again = charging ? undefined : offer;
    const lookedUpAtMs = evidence === asked ? evidence.atMs : undefined;
    const status = { id: event.key, state, ...withoutUndefined({ again, charging, lookedUpAtMs, replaced }) };
    return { status, evidence, ...withoutUndefined({ verdict }) };
  }

  const renders: Renders<AlertStepBodies & { alert: unknown }> = {
    alert: (_event, work, about) => render(work, about),
    ...createStepRenders(account, { ...needs, alertOf }),
  };
  return { renders, lookUpAhead: lookUps.ahead };
}

/**
 * Erases an old alert's details in its records and its message; outcome and reference stay, and the message still follows its
 * state. Records first, so no later edit shows the details again; the next turn, at once, edits the message.
 */
async function erase(
  { account, alerts }: { account: Parameters<typeof createTelling>[0]; alerts: Pick<AlertCases, 'cases'> },
  work: Work,
  event: PaymentEvent,
): Promise<Rendered> {
  const { sealer } = account;
  const { key } = work.entry;
  await alerts.cases.apply(event.key, { kind: 'erased' });
  const found = openEvidence(sealer, key, work.record);
  const evidence =
    found && sealEvidence(sealer, key, { lookup: outcomeAlone(found.lookup), atMs: found.atMs });
  const sealed = sealer.seal(key, JSON.stringify(withoutDetails(event)));
  await reschedule(account, work, { isErased: true, sealed, evidence }, { holdMs: 0 });
  return { kind: 'written' };
}

/** Renders the steps of alerts, in threads and for single persons. */
function createStepRenders(
  { store, sealer }: Pick<Account, 'store' | 'sealer'>,
  needs: {
    alertOf: (message: AlertMessage, found: { event: PaymentEvent; lookup: Lookup }) => Alert;
    alerts: Pick<AlertCases, 'read'>;
    judging: Pick<JudgeAgain, 'nextTry'>;
  },
): Renders<AlertStepBodies> {
  /** A step's alert and its present state; undefined: the alert is forgotten. */
  async function readStep({ parent: key }: AlertStepBody) {
    const parent = await findMessageRecord(store, key);
    if (!parent) return undefined;
    const event = openEvent(sealer, key, parent);
    const current = await needs.alerts.read(event.key);
    const evidence = newestOf([current.evidence, openEvidence(sealer, key, parent)]);
    const lookup: Lookup = evidence?.lookup ?? { kind: 'no_reference' };
    const alert = needs.alertOf({ key, record: parent }, { event, lookup });
    return { parent, current, alert, id: event.key, evidence };
  }

  return {
    async alert_note(body, { entry }, about) {
      const read = await readStep(body);
      if (!read) return { kind: 'nothing' };
      const { step } = body;
      const { alert, current, parent } = read;
      const storm = parent.digest?.storm;
      // The digest's thread is shared by all its alerts: only what concerns money goes there.
      if (storm !== undefined && !isMoneyStep(step)) return { kind: 'nothing' };
      // Acknowledged before this note was posted.
      if (step.kind === 'escalated' && current.state.kind !== 'open') return { kind: 'nothing' };
      const below =
        storm === undefined
          ? { key: body.parent, after: stepsBefore(entry.key) }
          : { key: messageKey('digest', storm) };
      const calls = step.kind === 'escalated' ? mentionedUsers(step.to) : [];
      const shown = { kind: 'shown', message: alertNoteMessage(step, alert, about), calls } as const;
      // A muted alert has no thread.
      return hasChannel(parent) ? { ...shown, below } : shown;
    },
    async alert_direct(body, { record: { channel: to } }, about) {
      const read = await readStep(body);
      if (!read) return { kind: 'nothing' };
      const { alert, current, parent, id, evidence } = read;
      // With buttons: the person can act from here.
      const { event, receivedAtMs } = alert;
      const failed = { event: { ...event, key: id }, receivedAtMs, ...withoutUndefined({ evidence }) };
      const isOver = current.charging !== undefined || isEnded(current.state);
      const { offer: again } = isOver ? {} : await needs.judging.nextTry(failed);
      const status = { id, state: current.state, ...withoutUndefined({ again }) };
      const where = { ...about, to, ...withoutUndefined({ place: placeOf(parent) }) };
      return { kind: 'shown', message: alertDirectMessage(body.step, { ...alert, status }, where) };
    },
  };
}

/** Judges the next try. If the card is on hold, stores the hold's end: an acknowledged alert's messages are rendered again then. */
async function offered(
  { judging, alerts }: { judging: Pick<JudgeAgain, 'nextTry'>; alerts: Pick<AlertCases, 'cases'> },
  failed: Parameters<JudgeAgain['nextTry']>[0],
): ReturnType<JudgeAgain['nextTry']> {
  const looked = await judging.nextTry(failed);
  const untilMs = looked.offer === 'link' && looked.verdict ? holdEnd(looked.verdict) : undefined;
  if (untilMs !== undefined) await alerts.cases.apply(failed.event.key, { kind: 'held', untilMs });
  return looked;
}

/** Whether a digest may count the event as it is: it says everything, or it is late. No event proves a payment. */
function canCountWithoutLookUp(
  { kind, amountMinor, currency, reason }: PaymentEvent,
  waitedMs: number,
): boolean {
  const saysItAll =
    kind === 'payment_failed' && amountMinor !== undefined && currency !== undefined && reason !== undefined;
  return saysItAll || waitedMs >= lateMs;
}

/**
 * Whether a digest may count it: every failure, and payments that need nobody. An unconfirmed payment, or one whose card
 * couldn't be stored, gets a message of its own.
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
