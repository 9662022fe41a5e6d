import type { AlertCard, Environment } from '../../../domain/alert.ts';
import { countsAlone } from '../routing.ts';
import type { AlertRule, RoutedRule } from '../../../domain/alert-route.ts';
import type { Money } from '../../../domain/money.ts';
import type { PaymentEvent, PaymentEventKind } from '../../../domain/payment-event.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';

/**
 * One failure, or one payment, that a digest tells instead of a message of its own: its event, and where that is silent
 * what a look-up added. Times are UTC milliseconds.
 */
export type StormItem = {
  event: PaymentEvent;
  receivedAtMs: number;
  /** When it was added to the digest. */
  addedAtMs: number;
  /** A look-up proved the payment. */
  isConfirmed: boolean;
};

/** `count`: how many it is of. */
type StormSum = Money & { count: number };

/** What the items of one storm come to. Bounded, whatever the events say. */
export type StormSummary = {
  /** In the order in which they first came. */
  reasons: readonly { reason: string; count: number }[];
  /** With none of those reasons, because there are too many. */
  otherReasons: number;
  noReason: number;
  sums: readonly StormSum[];
  /** Items that are in no sum: their amount is not known, or no more can be summed. */
  unsummed: number;
  firstMs: number;
  lastMs: number;
  /** When the last few were added, oldest first. */
  lately: readonly number[];
  /** Of payments: how many a look-up proved. */
  confirmed: number;
};

export const emptySummary: StormSummary = {
  reasons: [],
  otherReasons: 0,
  noReason: 0,
  sums: [],
  unsummed: 0,
  firstMs: Number.MAX_SAFE_INTEGER,
  lastMs: 0,
  lately: [],
  confirmed: 0,
};

const mostReasons = 30;
const mostCurrencies = 8;
const longestReason = 120;

export function summarise(summary: StormSummary, item: StormItem): StormSummary {
  const { event, receivedAtMs, addedAtMs, isConfirmed } = item;
  const isPayment = event.kind === 'payment_success';
  return {
    ...withReason(summary, event),
    ...withMoney(summary, event),
    firstMs: Math.min(summary.firstMs, receivedAtMs),
    lastMs: Math.max(summary.lastMs, receivedAtMs),
    lately: [...summary.lately, addedAtMs].slice(-stormPace),
    confirmed: summary.confirmed + Number(isPayment && isConfirmed),
  };
}

/** As long as so many come within a window a storm goes on: fewer can be told one by one again. */
export const stormPace = 3;

function withReason(
  { reasons, otherReasons, noReason }: StormSummary,
  event: PaymentEvent,
): Pick<StormSummary, 'reasons' | 'otherReasons' | 'noReason'> {
  const reason = (event.reason ?? '').trim().slice(0, longestReason);
  if (reason === '') return { reasons, otherReasons, noReason: noReason + 1 };
  if (reasons.some((one) => one.reason === reason)) {
    const counted = reasons.map((one) => (one.reason === reason ? { reason, count: one.count + 1 } : one));
    return { reasons: counted, otherReasons, noReason };
  }
  return reasons.length < mostReasons
    ? { reasons: [...reasons, { reason, count: 1 }], otherReasons, noReason }
    : { reasons, otherReasons: otherReasons + 1, noReason };
}

function withMoney(
  { sums, unsummed }: StormSummary,
  { amountMinor, currency }: PaymentEvent,
): Pick<StormSummary, 'sums' | 'unsummed'> {
  const left = { sums, unsummed: unsummed + 1 };
  if (amountMinor === undefined || currency === undefined) return left;
  const known = sums.find((sum) => sum.currency === currency);
  if (!known) {
    return sums.length < mostCurrencies
      ? { sums: [...sums, { minor: amountMinor, currency, count: 1 }], unsummed }
      : left;
  }
  const minor = known.minor + amountMinor;
  // Beyond it a sum is no longer exact.
  if (!Number.isSafeInteger(minor)) return left;
  const more = { minor, currency, count: known.count + 1 };
  return { sums: sums.map((sum) => (sum === known ? more : sum)), unsummed };
}

/** Who acknowledged all of a storm, and when. */
export type StormTaken = { by: string; at: number };

/** A storm as its digest shows it. */
export type StormSeen = {
  id: string;
  /** Failures, or payments: never both, because nobody can read from one card what each of them asks for. */
  gathers: PaymentEventKind;
  count: number;
  summary: StormSummary;
  isOver: boolean;
  /** How many of them a later payment resolved. */
  recovered: number;
  taken?: StormTaken;
  /** The rules that are muted now and would tell this channel more. */
  muted: readonly AlertRule[];
  environment: Environment;
  account: string;
};

/** One line of a storm’s list. */
export type StormRow = StormItem & { card: AlertCard };

/** What the alerts of a storm come to; `recovered`: how many of them a later payment resolved. */
export type StormCount = { count: number; recovered: number; summary: StormSummary };

/**
 * A storm of one channel. Its alerts are on a list of the store, each by its own record; here is what holds for all of
 * them. Times are UTC milliseconds.
 */
export type Storm = {
  sinceMs: number;
  /** The alerts that it takes in: of rules that count alone, by their names, and '' for those of all others. */
  groups: readonly string[];
  /** As they were last counted. */
  counted: StormCount;
  taken?: StormTaken;
  endedMs?: number;
  /** When its alerts are counted again; absent: not before another of them is resolved. */
  lookAtMs?: number;
  /** The last count found nothing new: what comes next has them counted soon. Else they are counted twice more anyway. */
  isQuiet: boolean;
};

export type StormEvent =
  /** So many alerts of a group came that they belong to it. */
  | { kind: 'joined'; group: string }
  /** `paceMs`: how long until they are counted again. */
  | { kind: 'counted'; counted: StormCount; paceMs: number; windowMs: number }
  | { kind: 'taken'; by: string }
  /** An alert is about to be put on its list, or is on that of those which payments resolved. */
  | { kind: 'stirred' };

/** How long after its end it is counted once more: what was on its way to its list by then stands there. */
export const settleMs = 120_000;
/** By then what stirs it stands on the list, and mostly more of the kind. */
const soonMs = 1_000;

export function newStorm(nowMs: number, group: string): Storm {
  const counted = { count: 0, recovered: 0, summary: emptySummary };
  return { sinceMs: nowMs, groups: [group], counted, lookAtMs: nowMs + soonMs, isQuiet: false };
}

/**
 * What becomes of a storm; undefined: nothing. The promises, which `storm-model.test.ts` holds it to:
 * - An alert that it takes in is told by its digest, and counted once; one that it does not, by its own message.
 * - As long as it is on, all alerts of its groups belong to it. It has one digest, and ends when few come.
 * - The first who takes it has all of its alerts, those still to come too; nobody else can.
 * - Its digest is told of a change after the change is stored, and again until that is known to have happened.
 */
export function stepStorm(storm: Storm, event: StormEvent, nowMs: number): Storm | undefined {
  switch (event.kind) {
    case 'joined':
      return storm.endedMs === undefined
        ? { ...storm, groups: [...new Set([...storm.groups, event.group])] }
        : undefined;
    case 'taken':
      return storm.taken ? undefined : { ...storm, taken: { by: event.by, at: nowMs } };
    case 'stirred':
      // Written only where nobody counts: in a burst no count would ever be finished.
      return storm.isQuiet ? { ...storm, isQuiet: false, lookAtMs: nowMs + soonMs } : undefined;
    case 'counted':
      return counted(storm, event, nowMs);
  }
}

function counted(
  storm: Storm,
  { counted: now, paceMs, windowMs }: Extract<StormEvent, { kind: 'counted' }>,
  nowMs: number,
): Storm {
  const { lookAtMs: _last, ...rest } = storm;
  const { lately } = now.summary;
  // It goes on for as long as no fewer come than can be told one by one.
  const stormyMs = Math.max(storm.sinceMs, (lately.length < stormPace ? lately.at(-1) : lately[0]) ?? 0);
  const endsMs = stormyMs + windowMs;
  const endedMs = storm.endedMs ?? (nowMs < endsMs ? undefined : nowMs);
  const isSame = JSON.stringify(now) === JSON.stringify(storm.counted);
  const isQuiet = isSame && endedMs === storm.endedMs;
  const lastMs = endedMs === undefined ? endsMs : endedMs + settleMs;
  const lookAtMs = !isQuiet || !storm.isQuiet ? nowMs + paceMs : nowMs < lastMs ? lastMs : undefined;
  const counted = isSame ? storm.counted : now;
  return { ...rest, counted, isQuiet, ...withoutUndefined({ endedMs, lookAtMs }) };
}

/** Whether its digest is to say something else than before. */
export function isNews(before: Storm, after: Storm): boolean {
  return before.counted !== after.counted || before.taken !== after.taken || before.endedMs !== after.endedMs;
}

/**
 * What an alert is counted with, by the rule that tells it or by none, and how many of these pass singly in a window;
 * 0: all of them. `usual`: where no rule says its own.
 */
export function countedWith(
  rule: RoutedRule | undefined,
  usual: number,
): { group: string; threshold: number } {
  return { group: rule && countsAlone(rule) ? rule.name : '', threshold: rule?.digestAfter ?? usual };
}
