import type { AlertCard } from './alert-card.ts';
import { contradicts } from './alert.ts';
import { destinationsOf, isMuted, type AlertRule, type RoutePlan } from './alert-route.ts';
import { eventAsLogged, type LoggedEvent } from './logged-event.ts';
import type { Money } from './money.ts';

/** Events of one outcome: how many, what they come to by currency, and how many named no amount. */
export type Counted = { count: number; sums: readonly Money[]; withoutAmount: number };

/** An alert that nobody has dealt with, or somebody has in hand. */
export type OpenAlert = Pick<LoggedEvent, 'id' | 'orderReference' | 'receivedAtMs'> & { money?: Money };

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

export const nothingCounted: Counted = { count: 0, sums: [], withoutAmount: 0 };

export function withEvent(before: Counted, event: Pick<LoggedEvent, 'amountMinor' | 'currency'>): Counted {
  const money = moneyOf(event);
  if (!money) return { ...before, count: before.count + 1, withoutAmount: before.withoutAmount + 1 };
  const known = before.sums.find(({ currency }) => currency === money.currency);
  const sums = known
    ? before.sums.map((sum) => (sum === known ? { ...sum, minor: sum.minor + money.minor } : sum))
    : [...before.sums, money];
  return { ...before, count: before.count + 1, sums };
}

/** Whether its look-up says otherwise: no sum of money may hold it. */
export function isDisputed({ kind, lookup }: Pick<LoggedEvent, 'kind' | 'lookup'>): boolean {
  return kind === 'payment_failed' ? lookup === 'confirmed' : contradicts(lookup);
}

export function moneyOf({
  amountMinor: minor,
  currency,
}: Pick<LoggedEvent, 'amountMinor' | 'currency'>): Money | undefined {
  return minor === undefined || currency === undefined ? undefined : { minor, currency };
}

/** The reasons that come most often, in the words of the first who said so: banks differ in capitals. */
export function topReasons(
  events: readonly LoggedEvent[],
  most: number,
): { reason: string; count: number }[] {
  const counts = new Map<string, { reason: string; count: number }>();
  for (const { kind, reason } of events) {
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

export function isToldIn(plan: RoutePlan, channel: string, logged: LoggedEvent): boolean {
  return destinationsOf(plan, eventAsLogged(logged), logged.receivedAtMs).some(
    (destination) => destination.channel === channel,
  );
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
