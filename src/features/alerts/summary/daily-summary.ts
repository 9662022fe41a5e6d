import { contradicts } from '../alert.ts';
import type { AlertCard } from '../../../domain/alert.ts';
import { destinationsOf } from '../routing.ts';
import { type AlertRule, type RoutePlan, isMuted } from '../../../domain/alert-route.ts';
import type { Money } from '../../../domain/money.ts';
import type { PaymentEvent, PaymentEventKind } from '../../../domain/payment-event.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';
import { type EventLog, type LoggedEvent, lookedBackMs } from '../event-log.ts';

/** Events of one outcome: how many, what they come to by currency, and how many named no amount. */
export type Counted = { count: number; sums: readonly Money[]; withoutAmount: number };

/** An alert that nobody has dealt with, or somebody has in hand. */
export type OpenAlert = { id: string; orderReference?: string; receivedAtMs: number; money?: Money };

/**
 * What one channel is told of a day. Times are UTC milliseconds; events are counted by when they were received, each in
 * one summary.
 */
export type DailySummary = {
  fromMs: number;
  untilMs: number;
  /** Without those whose look-up says otherwise, which are `disputed`. */
  failed: Counted;
  paid: Counted;
  /** How many of the paid a look-up proved; the others count by their event alone. */
  proven: number;
  /** Events whose own look-up says otherwise: said to have failed and paid, said to be paid and not proven. In no sum. */
  disputed: { failed: number; paid: number };
  /** How many of them the rules of the moment tell in this channel. */
  toldHere: number;
  /** Of the failures, most frequent first. */
  reasons: readonly { reason: string; count: number }[];
  /** Of this channel's failures of the last 7 days; `leftOut`: later ones that nobody asked for. */
  cards: { open: readonly OpenAlert[]; acknowledged: number; snoozed: number; leftOut: number };
  /** Every rule that is silent now, whatever its channels. */
  muted: readonly AlertRule[];
  nowMs: number;
};

const nothingCounted: Counted = { count: 0, sums: [], withoutAmount: 0 };

function withEvent(before: Counted, { event }: LoggedEvent): Counted {
  const money = moneyOf(event);
  if (!money) return { ...before, count: before.count + 1, withoutAmount: before.withoutAmount + 1 };
  const known = before.sums.find(({ currency }) => currency === money.currency);
  const sums = known
    ? before.sums.map((sum) => (sum === known ? { ...sum, minor: sum.minor + money.minor } : sum))
    : [...before.sums, money];
  return { ...before, count: before.count + 1, sums };
}

/** Whether its look-up says otherwise: no sum of money may hold it. */
function isDisputed({ event, lookup }: LoggedEvent): boolean {
  return event.kind === 'payment_failed' ? lookup === 'confirmed' : contradicts(lookup);
}

function moneyOf({ amountMinor: minor, currency }: PaymentEvent): Money | undefined {
  return minor === undefined || currency === undefined ? undefined : { minor, currency };
}

/** The reasons that come most often, in the words of the first who said so: banks differ in capitals. */
function topReasons(events: readonly LoggedEvent[], most: number): { reason: string; count: number }[] {
  const counts = new Map<string, { reason: string; count: number }>();
  for (const { event } of events) {
    const { kind, reason } = event;
    if (kind !== 'payment_failed' || reason === undefined) continue;
    const key = reason.trim().toLowerCase();
    const known = counts.get(key);
    counts.set(key, known ? { ...known, count: known.count + 1 } : { reason: reason.trim(), count: 1 });
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count).slice(0, most);
}

/** Per cent of the payments that succeeded, to a tenth and never rounded up to all of them; undefined without any. */
export function successRate({ failed, paid }: Pick<DailySummary, 'failed' | 'paid'>): number | undefined {
  const all = failed.count + paid.count;
  return all === 0 ? undefined : Math.floor((paid.count * 1_000) / all) / 10;
}

function isToldIn(plan: RoutePlan, channel: string, { event, receivedAtMs }: LoggedEvent): boolean {
  return destinationsOf(plan, event, receivedAtMs).some((destination) => destination.channel === channel);
}

export function mutedNow({ rules }: RoutePlan, nowMs: number): AlertRule[] {
  return rules.filter((rule) => isMuted(rule, nowMs));
}

/** Of these, the ones that would tell this channel. */
export function mutedIn(plan: RoutePlan, channel: string, nowMs: number): AlertRule[] {
  return mutedNow(plan, nowMs).filter(({ channels }) => channels.includes(channel));
}

/** Where its people stand with an alert, as the summary counts it. */
export function standing(card: AlertCard): 'open' | 'acknowledged' | 'snoozed' | 'over' {
  if (card.kind === 'open') return 'open';
  if (card.kind !== 'acknowledged') return 'over';
  return card.snoozedUntil === undefined ? 'acknowledged' : 'snoozed';
}

/** What a summary tells of: what came into the log from the one time until before the other, UTC ms. */
export type SummarySpan = { fromMs: number; untilMs: number };

export type SummaryShown = { kind: 'daily_summary'; summary: DailySummary };

type SummariseDeps = {
  eventLog: Pick<EventLog, 'since'>;
  plan: RoutePlan;
  /** All that are muted now, from Slack too. */
  muted: DailySummary['muted'];
  readCard: (id: string) => Promise<{ card: AlertCard }>;
  now: () => number;
};

/** So many cards are asked for at most, the oldest first: two storms of ten thousand, in a few seconds. */
const mostCards = 20_000;
const cardsAtOnce = 16;
const mostReasons = 5;

/** What that channel is told of that time; the cards are those of the last 7 days. Throws StoreUnavailable. */
export async function summariseDay(
  deps: SummariseDeps,
  channel: string,
  { fromMs, untilMs }: SummarySpan,
): Promise<DailySummary> {
  const { plan, eventLog } = deps;
  const nowMs = deps.now();
  const day: LoggedEvent[] = [];
  const failuresHere: LoggedEvent[] = [];
  let toldHere = 0;
  for await (const events of eventLog.since(Math.min(fromMs, nowMs - lookedBackMs))) {
    for (const logged of events) {
      const isOfDay = logged.receivedAtMs >= fromMs && logged.receivedAtMs < untilMs;
      const isHere = isToldIn(plan, channel, logged);
      if (isOfDay) day.push(logged);
      if (isOfDay && isHere) toldHere += 1;
      if (isHere && logged.event.kind === 'payment_failed') failuresHere.push(logged);
    }
  }
  const agreed = day.filter((event) => !isDisputed(event));
  const disputed = day.filter(isDisputed);
  return {
    fromMs,
    untilMs,
    failed: counted(agreed, 'payment_failed'),
    paid: counted(agreed, 'payment_success'),
    proven: agreed.filter(({ event, lookup }) => event.kind === 'payment_success' && lookup === 'confirmed')
      .length,
    disputed: {
      failed: disputed.filter(({ event }) => event.kind === 'payment_failed').length,
      paid: disputed.filter(({ event }) => event.kind === 'payment_success').length,
    },
    toldHere,
    reasons: topReasons(agreed, mostReasons),
    cards: await cardsOf(deps, failuresHere),
    muted: deps.muted,
    nowMs,
  };
}

function counted(events: readonly LoggedEvent[], kind: PaymentEventKind): DailySummary['failed'] {
  return events.filter(({ event }) => event.kind === kind).reduce(withEvent, nothingCounted);
}

async function cardsOf(
  { readCard }: SummariseDeps,
  failures: readonly LoggedEvent[],
): Promise<DailySummary['cards']> {
  const oldest = failures.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs).slice(0, mostCards);
  const standings: ReturnType<typeof standing>[] = [];
  for (let index = 0; index < oldest.length; index += cardsAtOnce) {
    const some = oldest.slice(index, index + cardsAtOnce);
    // oxlint-disable-next-line no-await-in-loop -- a few at a time, so that alerts come through in between
    const read = await Promise.all(some.map(({ event }) => readCard(event.key)));
    standings.push(...read.map(({ card }) => standing(card)));
  }
  return {
    open: oldest
      .filter((_, index) => standings[index] === 'open')
      .map(({ event, receivedAtMs }) => {
        const { key: id, orderReference } = event;
        return { id, receivedAtMs, ...withoutUndefined({ orderReference, money: moneyOf(event) }) };
      }),
    acknowledged: standings.filter((one) => one === 'acknowledged').length,
    snoozed: standings.filter((one) => one === 'snoozed').length,
    leftOut: failures.length - oldest.length,
  };
}
