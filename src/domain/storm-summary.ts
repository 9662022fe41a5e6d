import type { AlertCard } from './alert-card.ts';
import type { AlertRule } from './alert-route.ts';
import type { Environment } from './alert.ts';
import type { PaymentEvent, PaymentEventKind } from './payment-event.ts';
import { listedEmail, listedText } from './listed-text.ts';
import type { Money } from './money.ts';
import { withoutUndefined } from './without-undefined.ts';

/**
 * One failure, or one payment, that a digest tells instead of a message of its own: what its event says, and what a look-up added
 * where the event was silent. Times are UTC milliseconds.
 */
export type StormItem = {
  /** The event’s key, and so a failure’s card. */
  id: string;
  receivedAtMs: number;
  /** When it was added to the digest. */
  addedAtMs: number;
  reference?: string;
  customerEmail?: string;
  amountMinor?: number;
  currency?: string;
  reason?: string;
  /** Of a payment: a look-up proved it. */
  isConfirmed?: true;
  /** Of a payment: it saved a card, which is kept. */
  savesCard?: true;
  /** It was told by a message of its own before the storm began. */
  isAbove?: true;
};

/** `count`: how many it is of. */
export type StormSum = Money & { count: number };

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
  lastAddedMs: number;
  /** When the last few were added, oldest first. */
  lately: readonly number[];
  /** Of payments: how many a look-up proved; absent: none. */
  confirmed?: number;
  /** Of payments: how many saved a card; absent: none. */
  cardsSaved?: number;
  /** How many have messages of their own; absent: none. */
  above?: number;
};

export const emptySummary: StormSummary = {
  reasons: [],
  otherReasons: 0,
  noReason: 0,
  sums: [],
  unsummed: 0,
  firstMs: Number.MAX_SAFE_INTEGER,
  lastMs: 0,
  lastAddedMs: 0,
  lately: [],
};

const mostReasons = 30;
const mostCurrencies = 8;
const longestReason = 120;

export function itemOf(
  event: PaymentEvent,
  times: { receivedAtMs: number; addedAtMs: number },
  isProven = false,
): StormItem {
  const { key: id, amountMinor, currency } = event;
  const isPayment = event.kind === 'payment_success';
  return {
    id,
    ...times,
    ...withoutUndefined({
      reference: listedText(event.orderReference),
      customerEmail: listedEmail(event.customerEmail),
      amountMinor,
      currency,
      reason: listedText(event.reason),
    }),
    ...(isPayment && isProven ? { isConfirmed: true } : {}),
    ...(isPayment && event.cardSaved ? { savesCard: true } : {}),
  };
}

export function summarise(summary: StormSummary, item: StormItem): StormSummary {
  return {
    ...withReason(summary, item),
    ...withMoney(summary, item),
    firstMs: Math.min(summary.firstMs, item.receivedAtMs),
    lastMs: Math.max(summary.lastMs, item.receivedAtMs),
    ...withPace(summary, item.addedAtMs),
    ...withoutUndefined({
      confirmed: withOneMore(summary.confirmed, item.isConfirmed),
      cardsSaved: withOneMore(summary.cardsSaved, item.savesCard),
      above: withOneMore(summary.above, item.isAbove),
    }),
  };
}

/** How fast a storm’s alerts come of late: what says whether it goes on. */
export type StormPace = Pick<StormSummary, 'lastAddedMs' | 'lately'>;

export function withPace({ lastAddedMs, lately }: StormPace, addedAtMs: number): StormPace {
  return {
    lastAddedMs: Math.max(lastAddedMs, addedAtMs),
    lately: [...lately, addedAtMs].slice(-stormPace),
  };
}

function withOneMore(count: number | undefined, isOne: true | undefined): number | undefined {
  return isOne ? (count ?? 0) + 1 : count;
}

/** As long as so many come within a window a storm goes on: fewer can be told one by one again. */
export const stormPace = 3;

/** When it was last a storm: a window later it is over, if no more come than can be told one by one. */
export function lastStormyMs({ lastAddedMs, lately }: StormPace): number {
  return lately.length < stormPace ? lastAddedMs : Math.min(...lately);
}

function withReason(
  { reasons, otherReasons, noReason }: StormSummary,
  item: StormItem,
): Pick<StormSummary, 'reasons' | 'otherReasons' | 'noReason'> {
  const reason = (item.reason ?? '').trim().slice(0, longestReason);
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
  { amountMinor, currency }: StormItem,
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
