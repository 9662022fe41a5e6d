import { setTimeout as sleep } from 'node:timers/promises';
import type { AlertRule, RoutePlan } from '../domain/alert-route.ts';
import { mutedIn } from '../domain/daily-summary.ts';
import { alertCardPrefix, createAlertCases, type AlertCases } from '../features/alerts/alert-case.ts';
import { createAlertCards, type AlertCards, type FoundAlert } from '../features/alerts/alert-cards.ts';
import type { AuditNotes } from '../audit/audit-notes.ts';
import { createAlertRecovery, paymentPrefix } from '../features/alerts/alert-recovery.ts';
import { cardsOf, judgeChargeAgain, type ChargeAgain } from '../features/alerts/charge-again.ts';
import {
  createDailySummaries,
  dailySummaryPrefix,
  type DailySummaries,
} from '../features/alerts/summary/daily-summaries.ts';
import { createEventLog, type EventLog } from '../features/alerts/event-log.ts';
import { openFingerprint } from '../records/fingerprint.ts';
import { createEventLookUp, lookUpEvent } from '../features/alerts/look-up-event.ts';
import type { SummaryPostDeps } from '../features/alerts/summary/summarise-day.ts';
import { summariseDay } from '../features/alerts/summary/summarise-day.ts';
import type { CardsForPosts } from '../features/alerts/alert-post.ts';
import { createStorms, stormPrefix, type Storms } from '../features/alerts/storm/storms.ts';
import type { WorkOnceDeps } from '../records/work-once.ts';
import type { CardLedger } from '../features/cards/card-ledger.ts';
import type { Charges } from '../features/charge/charge.ts';
import { stormTerms } from './storm-terms.ts';
import { summaryTimes } from './daily-summaries.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';
import type { Payments } from './payments.ts';

export type Alerts = {
  cards: AlertCards;
  storms: Storms;
  chargeAgain: (alert: FoundAlert) => Promise<ChargeAgain>;
  /** What the messages of alerts are made with. */
  forPosts: CardsForPosts;
  /** What came within the last week. */
  eventLog: EventLog;
  /** What a channel is told of a day. */
  summarise: SummaryPostDeps['summarise'];
  summaries: DailySummaries;
  kinds: WorkOnceDeps['kinds'];
};

type AlertCaseParts = {
  kept: Kept;
  routes: RoutePlan;
  wake: () => void;
  notes: AuditNotes;
};

/** What charges need of alerts, from which they are begun. */
export function openAlertCases(
  { config, now }: Outside,
  { kept: { store, sealer }, routes, wake, notes }: AlertCaseParts,
): { alertCases: AlertCases; storms: Storms } {
  const leaseMs = config.workLeaseSeconds * 1_000;
  const shared = {
    store,
    sealer,
    rememberMs: rememberMsOf(config),
    leaseMs,
    now,
    wake,
    wait: sleep,
    audit: notes.write,
  };
  const storms: Storms = createStorms({
    ...shared,
    ...stormTerms(config),
    environment: config.paymentsEnvironment,
    account: config.paymentsAccountName,
    mutedIn: (channel: string): AlertRule[] => mutedIn(routes, channel, now()),
    retell: (id) => alertCases.hear(id, { kind: 'retold' }),
  });
  const alertCases = createAlertCases({ ...shared, storms });
  return { alertCases, storms };
}

function rememberMsOf({ webhookRememberDays }: Outside['config']): number {
  return webhookRememberDays * 86_400_000;
}

type AlertParts = ReturnType<typeof openAlertCases> & {
  kept: Kept;
  payments: Payments;
  ledger: CardLedger | undefined;
  charges: Pick<Charges, 'mayTry' | 'chargeOf' | 'hasEnded'>;
  routes: RoutePlan;
  wake: () => void;
};

/** The cards of failed charges, put together: what people do with them, and which payment makes them good. */
export function createAlerts({ config, log, now }: Outside, parts: AlertParts): Alerts {
  const { kept, payments, ledger, charges, routes, wake, storms, alertCases } = parts;
  const { store, sealer } = kept;
  const { mayTry, chargeOf, hasEnded } = charges;
  const chargedCard = async (reference: string) => (await chargeOf(reference))?.card;
  const { findTransaction } = payments;
  const cards = createAlertCards({
    store,
    sealer,
    alerts: alertCases,
    storms,
    // A person who asks is not told of an outage that was a moment ago.
    lookUp: (event) => lookUpEvent(findTransaction, event),
    hasEnded,
    now,
  });
  const recovery = createAlertRecovery({
    store,
    sealer,
    fingerprint: openFingerprint({ store, sealer, log }),
    alerts: alertCases,
    cards,
    chargeOf,
    lookUp: createEventLookUp({ findTransaction, now }),
    rememberMs: rememberMsOf(config),
    now,
    wait: sleep,
    log,
  });
  const eventLog = createEventLog({ store, sealer, log });
  const times = summaryTimes(config);
  const summaries = createDailySummaries({
    store,
    sealer,
    times,
    rememberMs: rememberMsOf(config),
    leaseMs: config.workLeaseSeconds * 1_000,
    now,
    wake,
    log,
  });
  const restMs = config.chargeRetryWaitHours * 3_600_000;
  return {
    cards,
    storms,
    chargeAgain: (alert) => judgeChargeAgain({ ledger, mayTry, chargedCard, restMs, now }, alert),
    forPosts: {
      ...cards,
      expect: (event, receivedAtMs) => recovery.expect(event, receivedAtMs),
      linkFailure: (...failure) => recovery.linkFailure(...failure),
      knowsCardOf: async (email) => (await cardsOf(ledger, email)).length > 0,
    },
    eventLog,
    summaries,
    summarise: (channel, time) =>
      summariseDay({ eventLog, plan: routes, readCard: (id) => cards.read(id), now }, channel, time),
    kinds: [
      { prefix: alertCardPrefix, work: (entry) => cards.work(entry) },
      { prefix: paymentPrefix, work: (entry) => recovery.work(entry) },
      { prefix: dailySummaryPrefix, work: (entry) => summaries.work(entry) },
      { prefix: stormPrefix, work: (entry) => storms.work(entry) },
    ],
  };
}
