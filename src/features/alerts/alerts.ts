import { randomUUID } from 'node:crypto';
import type { Account } from '../../account.ts';
import {
  type Lookup,
  type ProvenPayment,
  type AlertMute,
  type AlertNews,
  type Mention,
  type NotPosted,
  tellsAnything,
} from '../../domain/alert.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import type { Confirmation } from '../../domain/transaction.ts';
import { type KnownDecline, reasonAfter } from '../../domain/decline-reason.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import type { SavedCard } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { alertKey, messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import { rememberedFor } from '../../messages/message-work.ts';
import type { Views, Words } from '../../messages/views.ts';
import { defineCommand, type Command, type Pressed } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import type { Entry } from '../../store/store.ts';
import { alertButtons, type ButtonsNeeds } from './alert-buttons.ts';
import { alertClaims, type AlertCards, createAlertCards } from './alert-cards.ts';
import {
  alertDirectMessage,
  alertMessage,
  alertNoteMessage,
  homeAlerts,
  homeOpenAlerts,
  type OpenAlert,
  assignedAlerts,
} from './alert-message.ts';
import { eventPrefix } from './alert-record.ts';
import { type ShownSeverity, shownSeverities } from './escalation.ts';
import { openAlerts } from './event-case.ts';
import { createAlertRecovery } from './alert-recovery.ts';
import {
  muteBlocks,
  noAlertsMessage,
  routesMessage,
  rulesElsewhereMessage,
  testAlertActionId,
  testAlertMessage,
  testOnItsWayMessage,
} from './alert-rules-message.ts';
import { type AgainNeeds, createJudge, type JudgeAgain } from './charge-again.ts';
import { holdEnd, knownDecline, withProvenOrder } from './alert.ts';
import {
  createEventLog,
  eventsOfOrder,
  findEvent,
  type StoredEvent,
  lookedBackMs,
  openStoredEvent,
} from './event-log.ts';
import { createGivenBack, type GivenBackNeeds } from './given-back.ts';
import { canAskFor, lookUpEvent, sparing } from './look-up-event.ts';
import { createReceiving } from './receive-event.ts';
import { needsLookUp, type Routed, routesOf } from './routing.ts';
import { stormPresses } from './storm/storm-list.ts';
import { type DigestShown, stormMessage, stormNoteMessage, stormViews } from './storm/storm-message.ts';
import { createStorms, type DigestBodies, type Storms, stormPrefix } from './storm/storm.ts';
import { dailySummaryMessage } from './summary/daily-summary-message.ts';
import {
  type AskDayFile,
  createDailySummaries,
  dailySummaryPrefix,
  summariseDay,
  type SummaryShown,
  type SummarySpan,
  summaryTimes,
} from './summary/daily-summary.ts';
import { type AlertShown, type AlertStepShown, createTelling } from './tell-alert.ts';
import { dayMs } from '../../domain/span.ts';

/** What alerts need of other features. */
type AlertsNeeds = ButtonsNeeds &
  AgainNeeds &
  GivenBackNeeds & {
    /** Whether its charge has ended without money; undefined: there is no such charge. */
    hasEnded: (reference: string) => Promise<boolean | undefined>;
    /** A charge or link of the bot's own is told what else ended its alert; again is the same as once. */
    tellPayment: (reference: string, news: AlertNews) => Promise<void>;
    /** Whether a charge of the bot's own tells its failure by its own message. */
    tellsFailure: (reference: string) => Promise<boolean>;
    findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
    /** Keeps an event's saved card; undefined: no token is kept anywhere. */
    rememberCard: ((card: SavedCard) => Promise<void>) | undefined;
    askDayFile: AskDayFile;
    /** What is muted from Slack, and was lately. */
    mutes: () => Promise<readonly AlertMute[]>;
    /** Charges and links hear of every event before it is called received. */
    beforeReceived: (event: PaymentEvent) => Promise<void>;
  };

/** A test of one channel, and who asked for it. */
type TestBodies = { test_alert: { askedBy: string } };

type Shown =
  | AlertShown
  | AlertStepShown
  | SummaryShown
  | DigestShown
  | { kind: 'test_alert'; askedBy: string };

export type Alerts = ReturnType<typeof createAlerts>;

/**
 * Alerts: an event comes in (`receive-event.ts`), goes where the rules say (`route-event.ts`), is told (`tell-alert.ts`),
 * and is a case (`event-case.ts`) that people act on (`alert-buttons.ts`) and a payment resolves (`alert-recovery.ts`).
 * Too many of them are a storm, and a day has its summary.
 */
export function createAlerts(account: Account, around: AlertsNeeds) {
  const { settings, rules, place, payments, wake, now, store, sealer } = account;
  const { routes, declines } = rules;
  const { findTransaction, findTransactionById: findById } = payments;
  const lookUpNow = (event: PaymentEvent) => lookUpEvent(findTransaction, event, findById);
  const lookUp = sparing(now, lookUpNow);
  const kept = {
    ...account,
    ...rememberedFor(settings),
    audit: account.audit.write,
  };
  const mutedNow = async (): Promise<AlertMute[]> =>
    (await around.mutes()).filter(({ untilMs }) => untilMs > now());
  const storms: Storms = createStorms(kept, settings.digestThreshold);
  const cards = createAlertCards(kept, {
    ...around,
    storms,
    audit: account.audit.write,
    lookUp: lookUpNow,
    lookUpSparingly: lookUp,
    needsReview: async (reference) => (await around.findCharge(reference))?.state.kind === 'review',
    search: (payment) => recovery.search(payment),
    tieFailure: (...failure) => recovery.tieFailure(...failure),
  });
  const recovery = createAlertRecovery(kept, cards, lookUp, around.chargeOf);
  const tellGivenBack = createGivenBack(account, cards, recovery, around);
  const eventLog = createEventLog(account);
  const summaries = createDailySummaries(kept, summaryTimes(settings), around.askDayFile);
  const judging = createJudge(account, around);
  const routing = {
    async route(event: PaymentEvent, receivedAtMs: number, lookup?: Lookup): Promise<Routed> {
      const { kind, orderReference } = event;
      if (kind === 'payment_failed' && orderReference && (await around.tellsFailure(orderReference)))
        return { routed: [], byCharge: true };
      if (lookup && (await tellGivenBack(event, lookup))) return { routed: [], byCharge: true };
      return routesOf(await around.mutes(), { event, receivedAtMs, nowMs: now(), plan: routes });
    },
    async needsLookUp(event: PaymentEvent) {
      // Whose thread tells it is known by what is found.
      if (event.kind === 'payment_given_back') return true;
      const mutes = await around.mutes();
      const lasting = mutes.filter(({ isOver }) => !isOver);
      return needsLookUp(routes, event, lasting);
    },
  };
  const telling = createTelling(kept, {
    ...around,
    ...routing,
    place,
    declines,
    lookUp,
    cards,
    recovery,
    storms,
    judging,
    canAskFor: (event) => canAskFor(event, findById),
    canListCards: payments.savedCards.kind === 'ready',
  });
  const views: Views<
    TestBodies & DigestBodies & { daily_summary: SummarySpan },
    Exclude<Shown, AlertShown | AlertStepShown>
  > = {
    ...stormViews(storms, mutedNow),
    test_alert: async ({ askedBy }) => ({ kind: 'shown', post: { kind: 'test_alert', askedBy } }),
    // Made when it leaves, behind the alerts that were before it in its channel.
    async daily_summary(span, { record: { channel } }) {
      const asked = { channel, plan: routes, nowMs: now(), ...span };
      const summary = await summariseDay(eventLog, (id) => cards.read(id), asked);
      return { kind: 'shown', post: { kind: 'daily_summary', summary, muted: await mutedNow() } };
    },
  };
  /** What a mute kept from its channel. Throws StoreUnavailable. */
  async function notPosted({ id }: AlertMute): Promise<NotPosted> {
    const { count, newest } = await eventLog.keptBack(id, mostNamed);
    const named = newest.map(async ({ event: { key, orderReference } }) => ({
      isOver: ['recovered', 'closed'].includes((await cards.read(key)).card.kind),
      ...withoutUndefined({ orderReference }),
    }));
    return { count, newest: await Promise.all(named) };
  }
  /** The events of an order that do not sign its reference, and that their look-up proved to be of it. */
  async function unsignedEvents(reference: string): Promise<StoredEvent[]> {
    const found = await recovery.unsignedOf(reference);
    const events = await Promise.all(
      found.map(async ({ id, isProven }) => {
        const entry = await findEvent(store, id);
        const kept = entry && openStoredEvent(sealer, entry);
        const { orderReference } = kept ? withProvenOrder(kept.event, kept.lookup) : {};
        return kept && (isProven || orderReference === reference) ? [kept] : [];
      }),
    );
    return events.flat();
  }
  /** What the bot knows of a failure that a look-up does not contradict: its own charge's end, else the signed event. */
  async function declineOf(reference: string, lookup: Confirmation): Promise<KnownDecline | undefined> {
    if (lookup.kind !== 'not_confirmed') return undefined;
    const charge = await around.findCharge(reference);
    if (charge) return failureOf(charge);
    const alert = await cards.find(orderEventKey('payment_failed', reference));
    if (!alert) return undefined;
    const { verdict } = await judging.look({ ...alert, evidence: { lookup, atMs: now() } });
    return knownDecline({ ...alert, lookup }, declines, { nowMs: now(), verdict });
  }
  return {
    verbs: [alertsCommand(account, around, { storms, cards, judging, mutedNow, notPosted })],
    claims: alertClaims(cards, judging),
    async story(reference: string) {
      const events = [...(await eventsOfOrder(account, reference)), ...(await unsignedEvents(reference))];
      return { events, posts: events.map(({ event }) => alertKey(event.key)) };
    },
    notPosted,
    /** A payment of the bot’s own that is proven, whether its event comes or not. */
    paid: async (payment: ProvenPayment): Promise<void> => {
      await recovery.addOwnPayment(payment);
      wake();
    },
    alertFor: recovery.alertFor,
    /** Undefined also while the store is away: the look-up is answered all the same. */
    declineOf: (reference: string, lookup: Confirmation) => ifStoreAnswers(declineOf(reference, lookup)),
    receiving: createReceiving(kept, {
      ...around,
      ...routing,
      opsChannel: settings.policy.channels.ops,
      addPayment: recovery.addPayment,
    }),
    messages: { views: { ...telling.views, ...views }, words: wordsAt(place) },
    open: () => countOpen(cards, storms),
    /** Asks the service about an event before its turn. */
    lookUpAhead: telling.lookUpAhead,
    start: () => summaries.start(),
    stop: () => summaries.stop(),
    cases: [
      { prefix: eventPrefix, work: async (entry: Entry) => void (await cards.cases.work(entry)) },
      { prefix: dailySummaryPrefix, work: (entry: Entry) => summaries.work(entry) },
      { prefix: stormPrefix, work: (entry: Entry) => storms.work(entry) },
    ],
  };
}

/** All messages of alerts, in words. */
function wordsAt(place: Account['place']): Words<Shown> {
  return {
    alert({ alert }) {
      return { message: alertMessage(alert), calls: calledBy(alert.route?.mention) };
    },
    alert_note: (post) => ({
      message: alertNoteMessage(post.step, post.alert, post),
      calls: post.step.kind === 'escalated' ? calledBy(post.step.to) : [],
    }),
    alert_direct: (post) => ({ message: alertDirectMessage(post.step, post.alert, post) }),
    test_alert: (post) => ({ message: testAlertMessage(post, place) }),
    daily_summary: (post) => ({ message: dailySummaryMessage(post, place) }),
    digest: (post) => ({ message: stormMessage(post, place) }),
    digest_note: (post) => ({ message: stormNoteMessage(post, place), calls: calledBy(post.step.to) }),
  };
}

/** By user id; a group is no person. */
function calledBy(mention: Mention | undefined): string[] {
  return mention?.kind === 'person' ? [mention.id] : [];
}

/** Each is read to be counted. */
const mostCounted = 100;

/** Counts unacknowledged alerts by severity, each up to a hundred; a storm counts once. Throws StoreUnavailable. */
async function countOpen(
  { cases }: AlertCards,
  storms: Storms,
): Promise<{ severity: ShownSeverity; count: number; oldestAtMs: number }[]> {
  const waiting = await storms.waiting();
  return await Promise.all(
    shownSeverities.map(async (severity) => {
      const alerts = await cases.list(openAlerts(severity), { max: mostCounted });
      const digests = waiting.filter((storm) => storm.severity === severity);
      const times = [alerts[0]?.failed?.atMs ?? Infinity, ...digests.map(({ sinceMs }) => sinceMs)];
      return { severity, count: alerts.length + digests.length, oldestAtMs: Math.min(...times) };
    }),
  );
}

/** How a charge of the bot's own ended without money, in the words of its own message; undefined: it did not. */
function failureOf({ state, bankWords: said, nextTry, otp }: ChargeSeen): KnownDecline | undefined {
  switch (state.kind) {
    case 'declined': {
      const words = state.why ?? said;
      const bankWords = state.from === 'record' ? undefined : words;
      const nextTryFrom = nextTry && holdEnd(nextTry);
      const reason = reasonAfter(words, nextTry);
      const { kind: how, concludedAt: atMs } = state;
      return { how, atMs, reason, ...withoutUndefined({ bankWords, nextTryFrom }) };
    }
    case 'expired':
      return { how: state.kind, atMs: state.concludedAt, reason: 'code_expired' };
    case 'wrong_codes': {
      const ended = { atMs: state.concludedAt, reason: 'wrong_code' } as const;
      if (!otp?.isClosed) return { how: state.kind, ...ended };
      return { how: 'codes_closed', ...ended, ...withoutUndefined({ bankWords: said }) };
    }
    default:
      return undefined;
  }
}

/** More open alerts than this the Home does not count. */
const mostLookedAt = 30;

/** The newest that a mute kept back, by their references; the log and the summary have them all. */
const mostNamed = 10;

/**
 * `/pay alerts`: what this channel gets and why, and a test alert to see that it arrives; and what acts on alerts’ own
 * messages.
 */
function alertsCommand(
  account: Account,
  around: AlertsNeeds,
  {
    storms,
    cards,
    judging,
    mutedNow,
    notPosted,
  }: {
    storms: Storms;
    cards: AlertCards;
    judging: JudgeAgain;
    mutedNow: () => Promise<AlertMute[]>;
    notPosted: (mute: AlertMute) => Promise<NotPosted>;
  },
): Command {
  const { place, now } = account;
  const { routes } = account.rules;
  // Remembered long enough to find again what may have arrived.
  const messages: Messages<TestBodies> = createMessages({ ...account, rememberMs: dayMs });
  /** Only where alerts go anyway: the rules may have changed since the button was shown. */
  async function sendTest({ value: channel, caller, reply }: Pressed): Promise<void> {
    if (!tellsAnything(routes, channel)) return await reply(noAlertsMessage());
    const body = { askedBy: caller.userId };
    // One that comes late proves nothing and only startles.
    await messages.post(messageKey('test_alert', randomUUID()), { channel, body, withinMs: 600_000 });
    await reply(testOnItsWayMessage());
  }
  /** The mutes of a channel that last, and those that kept something from it in the last 7 days. */
  async function keptFrom(channel: string): Promise<(NotPosted & { mute: AlertMute })[]> {
    const lately = (await around.mutes()).filter(
      (mute) => mute.channel === channel && mute.untilMs > now() - lookedBackMs,
    );
    const all = await Promise.all(lately.map(async (mute) => ({ mute, ...(await notPosted(mute)) })));
    return all.filter(({ mute, count }) => count > 0 || mute.untilMs > now());
  }
  /** Nobody has acknowledged them: the newest. */
  async function openOnes(): Promise<OpenAlert[]> {
    const newest = { max: mostLookedAt, newestFirst: true };
    const all = await Promise.all(
      shownSeverities.map((severity) => cards.cases.list(openAlerts(severity), newest)),
    );
    const ids = all.flat().toSorted((one, other) => (other.failed?.atMs ?? 0) - (one.failed?.atMs ?? 0));
    const found = ids.slice(0, mostLookedAt).map(async ({ id }) => ({ id, ...(await cards.find(id)) }));
    return (await Promise.all(found)).filter((alert): alert is OpenAlert => 'event' in alert);
  }
  const { presses, modals } = alertButtons(account, cards, judging, around);
  return defineCommand<undefined>({
    verb: 'alerts',
    usage: '',
    summary: 'Alerts here',
    examples: ['alerts'],
    permission: 'alerts',
    elsewhere: { words: ['route', 'routes'], answer: rulesElsewhereMessage },
    menu: { actionId: 'menu.alerts', text: 'Alerts here', opens: 'message' },
    open: async ({ userId }) => assignedAlerts(await cards.of(userId)),
    effect: 'none',
    parse: nothingAfter('Nothing follows “alerts”: it is about the channel it is typed in.'),
    presses: [
      { actionId: testAlertActionId, press: sendTest },
      ...presses,
      ...stormPresses(account, storms, cards),
    ],
    modals,
    home: async ({ userId }) => [
      // Two blocks at most: however many alerts are assigned to them, no mute is cut off.
      ...muteBlocks(await mutedNow()),
      ...homeAlerts(await cards.of(userId), place),
      ...homeOpenAlerts(await openOnes(), place),
    ],
    async run(_, { caller: { channelId: channel = '' } }) {
      const [kept, on] = await Promise.all([
        ifStoreAnswers(keptFrom(channel)),
        ifStoreAnswers(storms.on(channel)),
      ]);
      return routesMessage({
        plan: routes,
        channel,
        nowMs: now(),
        ...withoutUndefined({ kept, storms: on }),
      });
    },
  });
}

async function ifStoreAnswers<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return undefined;
  }
}
