import type { Account } from '../../account.ts';
import type { AlertClaims, ProvenPayment } from '../../domain/alert.ts';
import { needsLookUp, routesOf, withMutes } from './routing.ts';
import type { RoutePlan, AlertMute, NotPosted } from '../../domain/alert-route.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import type { Confirmation } from '../../domain/confirmation.ts';
import {
  type DailySummary,
  type SummarySpan,
  mutedIn,
  mutedNow,
  standing,
  summariseDay,
} from './summary/daily-summary.ts';
import type { KnownCards } from '../../domain/saved-card.ts';
import type { Entry } from '../../store/store.ts';
import { createAlertCases } from './alert-case.ts';
import { type AlertCards, createAlertCards, findDecline } from './alert-cards.ts';
import { createAlertClaims, type ChargeOf } from './alert-claims.ts';
import { createAlertRecovery, keepProvenPayment, paymentPrefix } from './alert-recovery.ts';
import { cardsOf, judgeChargeAgain, type ChargeAgainDeps } from './charge-again.ts';
import { createEventLog, findKeptEvent, lookedBackMs, openKeptEvent } from './event-log.ts';
import { orderEventKey, type PaymentEventKind } from '../../domain/payment-event.ts';
import { alertKey, messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import { randomUUID } from 'node:crypto';
import { createEventLookUp, lookUpEvent } from './look-up-event.ts';
import { alertCardPrefix, type AlertPostDeps } from './alert-record.ts';
import { alertViews, alertWords, type TestAlertBodies } from './alert-views.ts';
import { lookUpAhead } from './route-event.ts';
import type { ReceiveDeps } from './receive-event.ts';
import { type Storms, createStorms, stormPrefix, stormWindowMs } from './storm/storms.ts';
import { createDailySummaries, dailySummaryPrefix, type SummaryTime } from './summary/daily-summaries.ts';
import { type AlertCardDeps, alertCardParts } from './card-presses.ts';
import { stormPresses } from './storm/storm-list.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { homeAlerts, openAlerts } from './alert-message.ts';
import {
  homeMutes,
  noAlertsMessage,
  routesMessage,
  rulesElsewhereMessage,
  testAlertActionId,
  testOnItsWayMessage,
} from './alert-rules-message.ts';
import { defineCommand, type Command, type Pressed } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';

const eventKinds = ['payment_failed', 'payment_success'] as const satisfies PaymentEventKind[];

/** What alerts need of other features. */
type Around = {
  ledger: KnownCards | undefined;
  /** By what the bot itself charged the card. */
  mayTry: ChargeAgainDeps['mayTry'];
  /** Whether its charge has ended without money; undefined: there is no such charge. */
  hasEnded: (reference: string) => Promise<boolean | undefined>;
  chargeOf: ChargeOf;
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  summaryTimes: readonly SummaryTime[];
  /** Of the saved card that an event brings. */
  rememberCard: ReceiveDeps['rememberCard'];
  /** What is muted from Slack, and was lately. */
  mutes: () => Promise<readonly AlertMute[]>;
  /** Charges and links hear of every event before it is called received. */
  beforeReceived: ReceiveDeps['beforeReceived'];
} & Pick<AlertCardDeps, 'mayReveal' | 'chargeForm'>;

type Kept = NotPosted & { mute: AlertMute };

export type Alerts = ReturnType<typeof createAlerts>;

/**
 * Alerts: an event comes in (`receive-event.ts`), goes where the rules say (`route-event.ts`), and is a case that people
 * act on and a payment resolves (`alert-case.ts`). Too many of them are a storm, and a day has its summary.
 */
export function createAlerts(account: Account, around: Around) {
  const { settings, rules, place, payments, audit, wake, now } = account;
  const { routes, declines } = rules;
  const { ledger, hasEnded, chargeOf } = around;
  const { findTransaction } = payments;
  const lookUp = createEventLookUp({ findTransaction, now });
  const rememberMs = settings.webhookRememberDays * 86_400_000;
  const shared = { ...account, rememberMs, audit: audit.write };
  const terms = { threshold: settings.digestThreshold, windowMs: stormWindowMs };
  const planWithMutes = async (): Promise<RoutePlan> => withMutes(routes, await around.mutes(), now());
  const storms: Storms = createStorms({
    ...shared,
    ...terms,
    environment: place.environment,
    account: place.account,
    mutedIn: async (channel) => mutedIn(await planWithMutes(), channel, now()),
  });
  const cases = createAlertCases({ ...shared, storms });
  const claims = createAlertClaims({ ...account, alerts: cases, hasEnded, chargeOf });
  const cards = createAlertCards({
    ...account,
    alerts: cases,
    storms,
    // A person who asks is not told of an outage that was a moment ago.
    lookUp: (event) => lookUpEvent(findTransaction, event),
    hasEnded,
  });
  const recovery = createAlertRecovery({
    ...account,
    alerts: cases,
    cards,
    chargeOf,
    lookUp,
    rememberMs,
  });
  const eventLog = createEventLog(account);
  const summaries = createDailySummaries({ ...shared, times: around.summaryTimes });
  const receiving: ReceiveDeps = {
    ...account,
    ...around,
    route: async (event, receivedAtMs) =>
      routesOf(await around.mutes(), { event, receivedAtMs, nowMs: now(), plan: routes }),
    needsLookUp: async (event) => {
      const mutes = await around.mutes();
      return needsLookUp(
        routes,
        event,
        mutes.filter(({ isOver }) => !isOver),
      );
    },
    opsChannel: settings.policy.channels.ops,
    rememberMs,
    expect: (...payment) => recovery.expect(...payment),
  };
  const { alertDetailsDays } = settings;
  const posts: AlertPostDeps = {
    ...account,
    ...place,
    ...receiving,
    storms,
    cards: {
      read: (id) => cards.read(id),
      erase: async (id) => void (await cases.apply(id, { kind: 'erased' })),
      linkFailure: (...failure) => recovery.linkFailure(...failure),
      knowsCardOf: async (email) => (await cardsOf(ledger, email)).length > 0,
    },
    ...(alertDetailsDays === 0 ? {} : { detailsMs: alertDetailsDays * 86_400_000 }),
    declines,
    lookUp,
    canListCards: payments.savedCards.kind === 'ready',
  };
  /** What a mute kept from its channel. Throws StoreUnavailable. */
  async function notPosted({ id }: AlertMute): Promise<NotPosted> {
    const { count, newest } = await eventLog.keptBack(id, mostNamed);
    const named = newest.map(async ({ event: { key, orderReference } }) => ({
      isOver: standing((await cards.read(key)).card) === 'over',
      ...withoutUndefined({ orderReference }),
    }));
    return { count, newest: await Promise.all(named) };
  }
  /** Those of a channel that are muted now, and that kept something from it in the last 7 days. */
  async function keptFrom(channel: string): Promise<Kept[]> {
    const lately = (await around.mutes()).filter(
      (mute) => mute.channel === channel && mute.untilMs > now() - lookedBackMs,
    );
    const all = await Promise.all(lately.map(async (mute) => ({ mute, ...(await notPosted(mute)) })));
    return all.filter(({ mute, count }) => count > 0 || mute.untilMs > now());
  }
  async function summarise(channel: string, time: SummarySpan): Promise<DailySummary> {
    const muted = mutedNow(await planWithMutes(), now());
    const asked = { eventLog, plan: routes, muted, readCard: (id: string) => cards.read(id), now };
    return await summariseDay(asked, channel, time);
  }
  return {
    verbs: [alertsCommand(account, around, { storms, cards, claims, planWithMutes, keptFrom })],
    claims,
    async story(reference: string) {
      const keys = eventKinds.map((kind) => orderEventKey(kind, reference));
      const found = await Promise.all(keys.map((key) => findKeptEvent(account.store, key)));
      const events = found
        .filter((entry) => entry !== undefined)
        .map((entry) => openKeptEvent(account.sealer, entry));
      return { events, posts: events.map(({ event }) => alertKey(event.key)) };
    },
    notPosted,
    /** A payment of the bot’s own that is proven, whether its event comes or not. */
    paid: async (payment: ProvenPayment): Promise<void> => {
      await keepProvenPayment(account, payment);
      wake();
    },
    /** What is known of a decline that a look-up does not contradict. */
    declineOf: (reference: string, lookup: Confirmation) =>
      findDecline(
        { findAlert: (id) => cards.find(id), findCharge: around.findCharge, rule: declines },
        reference,
        lookup,
      ),
    receiving,
    messages: {
      views: alertViews({ ...posts, summarise }),
      words: alertWords(place),
    },
    /** Asks the service about an event before its turn. */
    lookUpAhead: (entry: Entry) => lookUpAhead(posts, entry),
    start: () => summaries.start(),
    stop: () => summaries.stop(),
    cases: [
      { prefix: alertCardPrefix, work: async (entry: Entry) => void (await cases.work(entry)) },
      { prefix: paymentPrefix, work: (entry: Entry) => recovery.work(entry) },
      { prefix: dailySummaryPrefix, work: (entry: Entry) => summaries.work(entry) },
      { prefix: stormPrefix, work: (entry: Entry) => storms.work(entry) },
    ],
  };
}

/** The newest that a mute kept back, by their references; the log and the summary have them all. */
const mostNamed = 10;

/** `/pay alerts`: what this channel gets and why, and a test alert to see that it arrives; and what acts on alerts’ own messages. */
function alertsCommand(
  account: Account,
  around: Around,
  {
    storms,
    cards,
    claims,
    planWithMutes,
    keptFrom,
  }: {
    storms: Storms;
    cards: AlertCards;
    claims: AlertClaims;
    planWithMutes: () => Promise<RoutePlan>;
    keptFrom: (channel: string) => Promise<Kept[]>;
  },
): Command {
  const { settings, rules, place, people, slack, now } = account;
  const { routes, declines } = rules;
  const { ledger, mayTry, chargeOf } = around;
  const chargedCard = async (reference: string): Promise<string | undefined> =>
    (await chargeOf(reference))?.card;
  const restMs = settings.chargeRetryWaitHours * 3_600_000;
  // Remembered long enough to find again what may have arrived.
  const messages: Messages<TestAlertBodies> = createMessages({ ...account, rememberMs: 86_400_000 });
  /** Only where alerts go anyway: the rules may have changed since the button was shown. */
  async function sendTest({ value: channel, caller, reply }: Pressed): Promise<void> {
    if (!tellsAnything(routes, channel)) return await reply(noAlertsMessage());
    const body = { askedBy: caller.userId };
    await messages.post(messageKey('test_alert', randomUUID()), { kind: 'test_alert', channel, body });
    await reply(testOnItsWayMessage());
  }
  const { presses, modals } = alertCardParts({
    ...place,
    ...around,
    declines,
    alertCards: cards,
    chargeAgain: (alert) => judgeChargeAgain({ ledger, mayTry, chargedCard, restMs, now }, alert),
    alertTaken: (alert) => claims.taken(alert),
    standingOf: people.standingOf,
  });
  return defineCommand<undefined>({
    verb: 'alerts',
    usage: '',
    summary: 'Alerts here',
    examples: ['alerts'],
    permission: 'alerts',
    elsewhere: {
      words: ['mutes', 'unmute', 'silence', 'route', 'routes'],
      answer: rulesElsewhereMessage,
    },
    menu: { actionId: 'menu.alerts', text: 'Alerts here', opens: 'message' },
    open: async ({ userId }) => openAlerts(await cards.of(userId)),
    effect: 'none',
    parse: nothingAfter('Nothing follows “alerts”: it is about the channel it is typed in.'),
    presses: [
      { actionId: testAlertActionId, press: sendTest },
      ...presses,
      ...stormPresses({ storms, alertCards: cards, uploadFile: slack.uploadFile }),
    ],
    modals,
    home: async ({ userId }) => [
      // Two blocks at most: however many alerts are in hand, no mute is cut off.
      ...homeMutes(await planWithMutes(), now()),
      ...homeAlerts(await cards.of(userId), place),
    ],
    async run(_, { caller: { channelId: channel = '' } }) {
      const newest = Promise.all(eventKinds.map((kind) => storms.newest(channel, kind)));
      const [kept, last] = await Promise.all([ifStoreAnswers(keptFrom(channel)), ifStoreAnswers(newest)]);
      return routesMessage({
        plan: routes,
        channel,
        nowMs: now(),
        ...withoutUndefined({ kept, storms: last }),
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

function tellsAnything({ failures, successes, rules }: RoutePlan, channel: string): boolean {
  return [failures, successes, ...rules.flatMap((rule) => rule.channels)].includes(channel);
}
