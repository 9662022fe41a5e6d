import { randomUUID } from 'node:crypto';
import type { Account } from '../../account.ts';
import {
  type FoundDecline,
  type AlertCharge,
  type ProvenPayment,
  type AlertMute,
  type AlertNews,
  type NotPosted,
  type OpenPayment,
  postsTo,
} from '../../domain/alert.ts';
import type { ChargeSeen, ShownTerms } from '../../domain/charge.ts';
import type { Confirmation } from '../../domain/transaction.ts';
import { type KnownDecline, reasonAfter } from '../../domain/decline-reason.ts';
import { undefinedIfAway } from '../../domain/failure.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import type { SavedCard } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import {
  alertKey,
  findMessageRecord,
  messageKey,
  openEvent,
  rememberedFor,
} from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import type { Renders } from '../../messages/deliver.ts';
import { defineCommand, type Command, type Pressed } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import type { MessageBlock } from '../../slack/kit/message.ts';
import type { Entry } from '../../store/store.ts';
import { alertButtons, type ButtonsNeeds } from './alert-buttons.ts';
import { alertClaims, type AlertCases, createAlertCases } from './alert-cases.ts';
import { homeAlerts, homeOpenAlerts, type OpenAlert, assignedAlerts } from './alert-message.ts';
import { type ShownSeverity, shownSeverities } from './escalation.ts';
import { eventPrefix, openAlerts } from './event-case.ts';
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
import { holdEnd, knownDecline, openEvidence, placeOf, withProvenOrder } from './alert.ts';
import {
  createEventLog,
  eventsOfOrder,
  findEvent,
  type StoredEvent,
  lookedBackMs,
  openStoredEvent,
} from './event-log.ts';
import { createGivenBack, type GivenBackNeeds } from './given-back.ts';
import { canAskFor, lookUpEvent, withCircuitBreaker } from './look-up-event.ts';
import { createReceiving } from './receive-event.ts';
import { createRouting, destinationsOf, type RoutingNeeds, withLookUp } from './route-event.ts';
import { stormButtons } from './storm/storm-list.ts';
import { stormItem, stormRenders } from './storm/storm-message.ts';
import { createStorms, type DigestBodies, type Storm, type Storms, stormPrefix } from './storm/storm.ts';
import { dailySummaryMessage } from './summary/daily-summary-message.ts';
import {
  type AskDayFile,
  createDailySummaries,
  dailySummaryPrefix,
  summariseDay,
  type SummarySpan,
  summaryTimes,
} from './summary/daily-summary.ts';
import { createTelling } from './tell-alert.ts';
import { dayMs } from '../../domain/span.ts';

type AlertsNeeds = ButtonsNeeds &
  AgainNeeds &
  GivenBackNeeds &
  RoutingNeeds & {
    /** Whether the charge ended without money; undefined: no such charge. */
    hasEnded: (reference: string) => Promise<boolean | undefined>;
    /** Tells the bot's own charge or link how else its alert ended. Idempotent. */
    tellPayment: (reference: string, news: AlertNews) => Promise<void>;
    findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
    /** Stores an event's saved card; undefined: the bot stores no tokens. */
    rememberCard: ((card: SavedCard) => Promise<void>) | undefined;
    /** Whether this is a payment link of the bot's own that saves no card. */
    savesNoCard: (reference: string) => Promise<boolean>;
    /** Tells charges that a first payment has saved this card. Idempotent. */
    onCardSaved: (card: SavedCard) => Promise<void>;
    askDayFile: AskDayFile;
    /** Tells charges and links of every event before its webhook is acknowledged. Idempotent. */
    beforeReceived: (event: PaymentEvent) => Promise<void>;
  };

type TestBodies = { test_alert: { askedBy: string } };

export type Alerts = ReturnType<typeof createAlerts>;

/**
 * Alerts. An event is received (`receive-event.ts`), looked up (`look-up-event.ts`), routed by the rules (`route-event.ts`) and
 * posted (`tell-alert.ts`). Its case (`event-case.ts`) is changed by people (`alert-buttons.ts`) and payments
 * (`alert-recovery.ts`). Too many alerts at once are a storm (`storm/`); each day has a summary (`summary/`).
 */
export function createAlerts(account: Account, needs: AlertsNeeds) {
  const { settings, rules, shownAccount, payments, wake, now, store, sealer } = account;
  const { routes, declines } = rules;
  const { findTransaction, findTransactionById: findById } = payments;
  const lookUpNow = (event: PaymentEvent) => lookUpEvent(findTransaction, event, findById);
  const lookUp = withCircuitBreaker(now, lookUpNow);
  const audit = account.audit.write;
  const own = { ...account, ...rememberedFor(settings), audit };
  const mutedNow = currentMutes(needs, now);
  const storms: Storms = createStorms(own, settings.digestThreshold);
  const alerts = createAlertCases(own, {
    ...needs,
    storms,
    audit,
    lookUp: lookUpNow,
    lookUpSparingly: lookUp,
    mutedIn: ({ key, record }) => {
      if (!record.keptBy) return undefined;
      const event = openEvent(sealer, key, record);
      const lookup = openEvidence(sealer, key, record)?.lookup;
      return destinationsOf(routes, lookup ? withLookUp(event, lookup) : event)[0]?.channel;
    },
    needsReview: async (reference) => (await needs.findCharge(reference))?.state.kind === 'review',
    async ownCharge(reference) {
      // Outside text must not shape a key: `chargeOf` checks it first.
      const isCharge = (await needs.chargeOf(reference))?.card !== undefined;
      if (!isCharge || (await needs.hasEnded(reference)) !== false) return undefined;
      const charge = await needs.findCharge(reference);
      if (!charge) return undefined;
      const { by, submittedAt: at, state } = charge;
      return { reference, by, at, ...(state.kind === 'review' && { needsReview: true }) };
    },
    search: (payment) => recovery.search(payment),
    matchFailure: (...failure) => recovery.matchFailure(...failure),
  });
  const recovery = createAlertRecovery(own, alerts, lookUp, needs.chargeOf);
  const tellGivenBack = createGivenBack(account, alerts, recovery, needs);
  const eventLog = createEventLog(account);
  const summaries = createDailySummaries(own, summaryTimes(settings), needs.askDayFile);
  const judging = createJudge(account, needs);
  const routing = createRouting(account, { ...needs, tellGivenBack });
  const telling = createTelling(own, {
    ...needs,
    ...routing,
    shownAccount,
    declines,
    lookUp,
    alerts,
    recovery,
    storms,
    judging,
    canAskFor: (event) => canAskFor(event, findById),
  });
  const renders: Renders<TestBodies & DigestBodies & { daily_summary: SummarySpan }> = {
    ...stormRenders(storms, mutedNow, shownAccount),
    async test_alert({ askedBy }, { record: { channel } }, about) {
      const shown = { askedBy, mutes: await mutedNow(channel), ...about };
      return { kind: 'shown', message: testAlertMessage(shown, shownAccount) };
    },
    // Rendered when posted, after the alerts before it in its channel's lane.
    async daily_summary(span, { record: { channel } }, about) {
      const asked = { channel, plan: routes, nowMs: now(), ...span };
      const summary = await summariseDay(eventLog, (id) => alerts.read(id), asked);
      const shown = { summary, muted: await mutedNow(), ...about };
      return { kind: 'shown', message: dailySummaryMessage(shown, shownAccount) };
    },
  };
  /** The events that a mute held back. Throws StoreUnavailable. */
  async function notPosted({ id }: AlertMute): Promise<NotPosted> {
    const { count, newest } = await eventLog.keptBack(id, mostNamed);
    const named = newest.map(async ({ event: { key, orderReference } }) => ({
      isOver: ['recovered', 'closed'].includes((await alerts.read(key)).state.kind),
      ...withoutUndefined({ orderReference }),
    }));
    return { count, newest: await Promise.all(named) };
  }
  /** Events whose signature doesn't cover this reference, but which a look-up proved to be of this order. */
  async function unsignedEvents(reference: string): Promise<StoredEvent[]> {
    const found = await recovery.unsignedOf(reference);
    const events = await Promise.all(
      found.map(async ({ id, isProven }) => {
        const entry = await findEvent(store, id);
        const stored = entry && openStoredEvent(sealer, entry);
        const { orderReference } = stored ? withProvenOrder(stored.event, stored.lookup) : {};
        return stored && (isProven || orderReference === reference) ? [stored] : [];
      }),
    );
    return events.flat();
  }
  /** Why an order failed: by the bot's own charge, else by its alert. Undefined: unknown, or the look-up contradicts it. */
  async function declineOf(reference: string, lookup: Confirmation): Promise<FoundDecline | undefined> {
    if (lookup.kind !== 'not_confirmed') return undefined;
    const id = orderEventKey('payment_failed', reference);
    const [declined, taken] = await Promise.all([knownFailure(reference, id, lookup), alerts.taken(id)]);
    return declined && { ...declined, ...withoutUndefined({ taken }) };
  }
  async function knownFailure(
    reference: string,
    id: string,
    lookup: Confirmation,
  ): Promise<KnownDecline | undefined> {
    const charge = await needs.findCharge(reference);
    if (charge) return failureOf(charge);
    const alert = await alerts.find(id);
    if (!alert) return undefined;
    const { verdict } = await judging.nextTry({ ...alert, evidence: { lookup, atMs: now() } });
    return knownDecline({ ...alert, lookup }, declines, { nowMs: now(), verdict });
  }
  return {
    verbs: [alertsCommand(account, needs, { storms, alerts, judging, mutedNow, notPosted })],
    claims: alertClaims(alerts, judging),
    /** For tests. */
    parts: { alerts, recovery, storms },
    async story(reference: string) {
      const events = [...(await eventsOfOrder(account, reference)), ...(await unsignedEvents(reference))];
      return { events, posts: events.map(({ event }) => alertKey(event.key)) };
    },
    notPosted,
    /** Looks up whether the failed payment was paid after all. False without an answer. Throws StoreUnavailable. */
    isPaid: async (id: string): Promise<boolean> => {
      const { lookup } = (await alerts.lookUpNow(id))?.evidence ?? {};
      if (lookup === undefined || !('evidence' in lookup)) return false;
      return lookup.evidence.reference.holds && lookup.evidence.status.holds;
    },
    /** Called with each proven payment of the bot's own: its event may be lost. */
    paid: async (payment: ProvenPayment): Promise<void> => {
      await recovery.addOwnPayment(payment);
      wake();
    },
    alertFor: recovery.alertFor,
    firstAlert: alerts.firstAlert,
    /**
     * Payments for the same money that may be paid, newest first: links of the terms' alert. If the terms name no alert, the
     * one that fits counts, with the charge begun from it. Throws StoreUnavailable.
     */
    openPayments: async ({ alert, ...terms }: ShownTerms): Promise<readonly OpenPayment[]> => {
      const id = await (alert === undefined ? recovery.alertFor(terms) : alerts.firstAlert(alert));
      if (id === undefined) return [];
      const links = await needs.openLinks(id);
      const taken = alert === undefined ? await alerts.taken(id) : undefined;
      return taken?.kind === 'charging' ? [openCharge(taken.charge), ...links] : links;
    },
    /** Undefined also while the store is away, so that a look-up still gets its answer. */
    declineOf: (reference: string, found: Confirmation) => declineOf(reference, found).catch(undefinedIfAway),
    receiving: createReceiving(own, {
      ...needs,
      ...routing,
      opsChannel: settings.policy.channels.ops,
      addPayment: recovery.addPayment,
    }),
    messages: { ...telling.renders, ...renders },
    open: () => countOpen(alerts, storms),
    lookUpAhead: telling.lookUpAhead,
    start: () => summaries.start(),
    stop: () => summaries.stop(),
    cases: [
      { prefix: eventPrefix, work: (entry: Entry) => alerts.cases.work(entry) },
      { prefix: dailySummaryPrefix, work: (entry: Entry) => summaries.work(entry) },
      { prefix: stormPrefix, work: (entry: Entry) => storms.work(entry) },
    ],
  };
}

function openCharge({ reference, by, at: atMs, needsReview }: AlertCharge): OpenPayment {
  return { reference, by, atMs, outcome: needsReview ? 'perhaps_paid' : 'unpaid' };
}

/** Reads the mutes that are on, of that channel or of all. */
function currentMutes({ mutes }: Pick<AlertsNeeds, 'mutes'>, now: () => number) {
  return async (channel?: string): Promise<AlertMute[]> =>
    (await mutes()).filter(
      (one) => one.untilMs > now() && (channel === undefined || one.channel === channel),
    );
}

/** Counting reads each alert, so it stops here. */
const mostCounted = 100;

/** Counts unacknowledged alerts by severity, each up to a hundred; a storm counts once. Throws StoreUnavailable. */
async function countOpen(
  { cases }: AlertCases,
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

/** How the bot's own charge failed, as its own message says it; undefined: it didn't fail. */
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

/** The Home counts no more open alerts than this. */
const mostLookedAt = 30;

/** At most this many events that a mute held back are named; the newest. */
const mostNamed = 10;

/** `/pay alerts`: which alerts this channel gets and why, and a test alert. Also the buttons of all alerts and storms. */
function alertsCommand(
  account: Account,
  needs: AlertsNeeds,
  parts: {
    storms: Storms;
    alerts: AlertCases;
    judging: JudgeAgain;
    mutedNow: () => Promise<AlertMute[]>;
    notPosted: (mute: AlertMute) => Promise<NotPosted>;
  },
): Command {
  const { storms, alerts, judging, mutedNow, notPosted } = parts;
  const { shownAccount, now } = account;
  const { routes } = account.rules;
  // Long enough to search the channel's history for a post that may have arrived.
  const messages: Messages<TestBodies> = createMessages({ ...account, rememberMs: dayMs });
  /** Refuses a channel that gets no alerts: the rules may have changed since the button was shown. */
  async function sendTest({ value: channel, caller, reply }: Pressed): Promise<void> {
    if (!postsTo(routes, channel)) return await reply(noAlertsMessage());
    const body = { askedBy: caller.userId };
    // A late test alert proves nothing.
    await messages.post(messageKey('test_alert', randomUUID()), { channel, body, withinMs: 600_000 });
    await reply(testOnItsWayMessage());
  }
  /** The channel's current mutes, and those of the last 7 days that held something back. */
  async function mutesOf(channel: string): Promise<(NotPosted & { mute: AlertMute })[]> {
    const lately = (await needs.mutes()).filter(
      (mute) => mute.channel === channel && mute.untilMs > now() - lookedBackMs,
    );
    const all = await Promise.all(lately.map(async (mute) => ({ mute, ...(await notPosted(mute)) })));
    return all.filter(({ mute, count }) => count > 0 || mute.untilMs > now());
  }
  async function newestOpen(): Promise<OpenAlert[]> {
    const newest = { max: mostLookedAt, newestFirst: true };
    const all = await Promise.all(
      shownSeverities.map((severity) => alerts.cases.list(openAlerts(severity), newest)),
    );
    const ids = all.flat().toSorted((one, other) => (other.failed?.atMs ?? 0) - (one.failed?.atMs ?? 0));
    return await alerts.findAll(ids.slice(0, mostLookedAt));
  }
  /** For the Home, each with a link to its digest. */
  function stormItems(all: readonly Storm[]): Promise<MessageBlock[][]> {
    return Promise.all(
      all.map(async (storm) => {
        const digest = await findMessageRecord(account.store, messageKey('digest', storm.id));
        return stormItem(storm, digest && placeOf(digest));
      }),
    );
  }
  const { presses, modals } = alertButtons(account, alerts, judging, needs);
  const stormParts = stormButtons(account, storms, alerts);
  return defineCommand<undefined>({
    verb: 'alerts',
    usage: '',
    summary: 'Alerts here',
    examples: ['alerts'],
    permission: 'alerts',
    elsewhere: { words: ['route', 'routes'], answer: rulesElsewhereMessage },
    menu: { actionId: 'menu.alerts', text: 'Alerts here', opens: 'message' },
    async open({ userId }) {
      const [own, ownStorms] = await Promise.all([alerts.assignedTo(userId), storms.ofPerson(userId)]);
      return assignedAlerts(own.length, ownStorms.length);
    },
    effect: 'none',
    parse: nothingAfter('Nothing follows “alerts”: it is about the channel it is typed in.'),
    presses: [{ actionId: testAlertActionId, press: sendTest }, ...presses, ...stormParts.presses],
    modals: [...modals, ...stormParts.modals],
    async home({ userId }) {
      const [mutes, own, ownStorms, open, waiting] = await Promise.all([
        mutedNow(),
        alerts.assignedTo(userId),
        storms.ofPerson(userId).then(stormItems),
        newestOpen(),
        storms.waiting().then(stormItems),
      ]);
      // Mutes first: many alerts must not cut them off.
      return [
        ...muteBlocks(mutes),
        ...homeAlerts(own, shownAccount, ownStorms),
        ...homeOpenAlerts(open, shownAccount, waiting),
      ];
    },
    async run(_, { caller: { channelId: channel = '' } }) {
      const [mutes, on] = await Promise.all([
        mutesOf(channel).catch(undefinedIfAway),
        storms.on(channel).catch(undefinedIfAway),
      ]);
      return routesMessage({
        plan: routes,
        channel,
        nowMs: now(),
        ...withoutUndefined({ mutes, storms: on }),
      });
    },
  });
}
