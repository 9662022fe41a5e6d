import { createHash } from 'node:crypto';
import { mutedIn } from '../../src/domain/daily-summary.ts';
import { destinationsOf, needsLookUp, type RoutePlan } from '../../src/domain/alert-route.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { alertCardPrefix, createAlertCards } from '../../src/operations/alert/alert-cards.ts';
import { createAlertRecovery, paymentPrefix } from '../../src/operations/alert/alert-recovery.ts';
import { createDailySummaries, dailySummaryPrefix } from '../../src/operations/alert/daily-summaries.ts';
import { createEventLog } from '../../src/operations/alert/event-log.ts';
import { createEventLookUp, lookUpEvent } from '../../src/operations/alert/look-up-event.ts';
import { receiveEvent, type ReceiveResult } from '../../src/operations/alert/receive-event.ts';
import { summariseDay } from '../../src/operations/alert/summarise-day.ts';
import { createDeadLetters } from '../../src/operations/outbox/dead-letters.ts';
import { deliverPost, type DeliverPostDeps } from '../../src/operations/posts/deliver-post.ts';
import { stormPrefix, stormRecordPrefix } from '../../src/operations/storm/storm-records.ts';
import { createStorms, type Storms } from '../../src/operations/storm/storms.ts';
import { createTakeStorm, type TakeStorm } from '../../src/operations/storm/take-storm.ts';
import { workOnce } from '../../src/operations/work/work-once.ts';
import type { AlertCards } from '../../src/operations/alert/alert-cards.ts';
import type { Log } from '../../src/log.ts';
import type { Entry, Store } from '../../src/store/store.ts';
import type { Process } from './schedule.ts';
import { place } from './slack.ts';
import { summaryTimes } from './find-summaries.ts';
import type { World } from './world.ts';
import { aroundStore } from '../support/around-store.ts';

export const leaseMs = 45_000;
export const windowMs = 300_000;
export const opsChannel = 'C0OPS00001';
const rememberMs = 30 * 86_400_000;

/** The alerting of one process, put together as the bot puts it together. */
export type Bot = {
  process: Process;
  cards: AlertCards;
  storms: Storms;
  takeStorm: TakeStorm;
  receive: (event: PaymentEvent, fingerprint: string) => Promise<ReceiveResult>;
  redrive: () => Promise<unknown>;
  /** Sees to it that summaries are told. */
  arm: () => void;
  /** False when nothing was due. */
  work: () => Promise<boolean>;
};

export function startBot(world: World, process: Process): Bot {
  const { clock, sealer, weather } = world;
  const store = gatedStore(world, process);
  const plan = world.plans.at(-1) as RoutePlan;
  const log = logOf(world);
  const now = (): number => clock.nowMs + process.skewMs;
  const shared = { store, sealer, rememberMs, now, wake: nothing, log };
  const findTransaction = findIn(world, process);
  const lookUp = createEventLookUp({ findTransaction, now });
  const storms = createStorms({
    ...shared,
    ...place,
    mutedIn: (channel) => mutedIn(plan, channel, now()),
    threshold: weather.threshold,
    windowMs,
  });
  const cards = createAlertCards({
    ...shared,
    storms,
    lookUp: (event) => lookUpEvent(findTransaction, event),
    hasEnded: () => Promise.resolve(undefined),
  });
  const recovery = createAlertRecovery({
    ...shared,
    cards,
    lookUp,
    chargeOf: () => Promise.resolve(undefined),
    fingerprint: (text) => Promise.resolve(createHash('sha256').update(text).digest('hex').slice(0, 32)),
  });
  const takeStorm = createTakeStorm({ ...shared, storms, cards });
  const eventLog = createEventLog(shared);
  const summaries = createDailySummaries({
    ...shared,
    get times() {
      return summaryTimes(world);
    },
  });
  const routing = {
    route: (event: PaymentEvent, receivedAtMs: number) => destinationsOf(plan, event, receivedAtMs),
    needsLookUp: (event: PaymentEvent) => needsLookUp(plan, event),
    opsChannel,
  };
  const deliver: DeliverPostDeps = {
    ...shared,
    ...place,
    ...routing,
    ...(weather.detailsMs === undefined ? {} : { detailsMs: weather.detailsMs }),
    declines: { threeDSecureWords: [], waitMs: 24 * 3_600_000 },
    lookUp,
    logEvent: (...logged) => eventLog.add(...logged),
    summarise: (...of) =>
      summariseDay({ eventLog, plan, readCard: async (id) => await cards.read(id), now }, ...of),
    deskChannel: undefined,
    findCharge: () => Promise.resolve(undefined),
    findLink: () => Promise.resolve(undefined),
    cards: {
      ...cards,
      linkFailure: (...failure) => recovery.linkFailure(...failure),
      knowsCardOf: () => Promise.resolve(weather.keepsCards),
    },
    storms,
    compose: (post) => {
      const made = world.slack.compose(process, world.breakage?.post?.(post) ?? post);
      return world.breakage?.composed?.(made) ?? made;
    },
    findByKey: (channel, key, sinceMs, threadTs) =>
      world.breakage?.findByKey?.() ??
      world.slack.findByKey(process, {
        channel,
        key,
        sinceMs,
        ...(threadTs === undefined ? {} : { threadTs }),
      }),
    report: nothing,
    leaseMs,
    postTimeoutMs: 10_000,
    giveUpMs: weather.giveUpMs,
  };
  const kinds = [
    { prefix: 'outbox:', work: (entry: Entry) => deliverPost(deliver, entry) },
    { prefix: alertCardPrefix, work: (entry: Entry) => cards.work(entry) },
    { prefix: paymentPrefix, work: (entry: Entry) => recovery.work(entry) },
    { prefix: stormPrefix, work: (entry: Entry) => storms.work(entry, takeStorm) },
    { prefix: dailySummaryPrefix, work: (entry: Entry) => summaries.work(entry) },
    { prefix: stormRecordPrefix, work: (entry: Entry) => takeStorm.work(entry) },
  ];
  const receiving = {
    ...shared,
    ...routing,
    storms,
    leaseMs,
    rememberCard: weather.keepsCards ? () => world.schedule.pass(process) : undefined,
    beforeReceived: (event: PaymentEvent) =>
      world.breakage?.forgetsPayments ? Promise.resolve() : recovery.expect(event),
  };
  return {
    process,
    cards: world.breakage?.cards?.(cards) ?? cards,
    storms,
    takeStorm,
    receive: (event, fingerprint) => receiveEvent(receiving, event, fingerprint),
    redrive: () => createDeadLetters({ store, now }).redrive(),
    arm() {
      summaries.start();
      summaries.stop();
    },
    work: () => workOnce({ store, leaseMs, kinds }),
  };
}

function nothing(): void {}

function findIn(world: World, process: Process) {
  return async (reference: string): Promise<Transaction | undefined> => {
    await world.schedule.pass(process, true);
    if (world.serviceAway) throw new ServiceFailure('network', 'away');
    return world.records.get(reference);
  };
}

/** Stops at a gate before and after each call, and at times does not answer, whether the call was carried out or not. */
function gatedStore(world: World, process: Process): Store {
  const { schedule, store, random } = world;
  const dice = random.fork(`store of ${process.name}`);
  function fail(): void {
    if (world.storeAway || dice.chance(world.storeFaults)) throw new StoreUnavailable('a fault of the walk');
  }
  return aroundStore(store, async (call) => {
    await schedule.pass(process);
    fail();
    const result = await schedule.call(call);
    await schedule.pass(process);
    fail();
    return result;
  });
}

/** What is nobody’s fault here: no key is lost, and no record is another program’s. */
const neverSaid = [
  'a record cannot be worked on; it is retried',
  'a record is put aside until the next start',
  'a failure cannot be linked to its payments',
  'an event is missing in the log of its hour',
];

function logOf(world: World): Log {
  return (_level, message, about, error) => {
    if (neverSaid.includes(message))
      world.violate(`the log says: ${message} ${JSON.stringify(about)} ${String(error)}`);
    world.tell(`log: ${message} ${JSON.stringify(about ?? {})}`);
  };
}
