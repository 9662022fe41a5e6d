import type { AlertCard } from '../../../domain/alert-card.ts';
import { type AlertRule, type RoutedRule, countsAlone } from '../../../domain/alert-route.ts';
import type { Environment } from '../../../domain/alert.ts';
import type { Money } from '../../../domain/money.ts';
import { listedEmail, listedText } from '../../../domain/outside-text.ts';
import type { PaymentEvent, PaymentEventKind } from '../../../domain/payment-event.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';

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
type StormPace = Pick<StormSummary, 'lastAddedMs' | 'lately'>;

function withPace({ lastAddedMs, lately }: StormPace, addedAtMs: number): StormPace {
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
function lastStormyMs({ lastAddedMs, lately }: StormPace): number {
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
type StormTaken = { by: string; at: number };

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

/** The digest; the direct message to whoever took the storm; the messages of its alerts, which show who did. */
type Telling = 'digest' | 'taker' | 'alerts';

/**
 * A storm of one channel. Its alerts are on a list of the store, each by its own record; here is what holds for all of
 * them. Times are UTC milliseconds.
 */
export type Storm = {
  sinceMs: number;
  /** The alerts that it takes in: of rules that count alone, by their names, and '' for those of all others. */
  groups: readonly string[];
  /** Records of alerts that were posted just before: their messages stand above the digest, and belong to it. */
  above: readonly string[];
  /** As they were last counted. */
  counted: StormCount;
  taken?: StormTaken;
  endedMs?: number;
  /** When its alerts are counted again; absent: not before another of them is resolved. */
  lookAtMs?: number;
  /** The last count found nothing new: what comes next has them counted soon. Else they are counted twice more anyway. */
  isQuiet: boolean;
  /** Still to be brought to Slack. */
  untold: readonly Telling[];
};

export type StormEvent =
  /** So many alerts of a group came that they belong to it. */
  | { kind: 'joined'; group: string; above: readonly string[] }
  /** `paceMs`: how long until they are counted again. */
  | { kind: 'counted'; counted: StormCount; paceMs: number; windowMs: number }
  | { kind: 'taken'; by: string }
  /** An alert is about to be put on its list, or on that of those which payments resolved. */
  | { kind: 'stirred' }
  | { kind: 'told' };

/** How long after its end it is counted once more: what was on its way to its list by then stands there. */
export const settleMs = 120_000;
/** By then what stirs it stands on the list, and mostly more of the kind. */
const soonMs = 1_000;

export function newStorm(nowMs: number): Storm {
  const counted = { count: 0, recovered: 0, summary: emptySummary };
  return {
    sinceMs: nowMs,
    groups: [],
    above: [],
    counted,
    lookAtMs: nowMs + soonMs,
    isQuiet: false,
    untold: [],
  };
}

/**
 * What becomes of a storm; undefined: nothing. The promises, which `storm-model.test.ts` holds it to:
 * - An alert that it takes in is told by its digest, and counted once; one that it does not, by its own message.
 * - As long as it is on, all alerts of its groups belong to it. It has one digest, and ends when few come.
 * - The first who takes it has all of its alerts, those above the digest and those still to come; nobody else can.
 * - Its digest is told of a change after the change is stored, and again until that is known to have happened.
 */
export function stepStorm(storm: Storm, event: StormEvent, nowMs: number): Storm | undefined {
  const isOver = storm.endedMs !== undefined;
  switch (event.kind) {
    case 'joined':
      if (isOver) return undefined;
      return {
        ...storm,
        groups: distinct([...storm.groups, event.group]),
        above: distinct([...storm.above, ...event.above]),
      };
    case 'taken':
      if (storm.taken) return undefined;
      return {
        ...storm,
        taken: { by: event.by, at: nowMs },
        untold: distinct([...storm.untold, 'digest', 'alerts']),
      };
    case 'stirred':
      // Written only where nobody counts: in a burst no count would ever be finished.
      return storm.isQuiet ? { ...storm, isQuiet: false, lookAtMs: nowMs + soonMs } : undefined;
    case 'told':
      return { ...storm, untold: [] };
    case 'counted':
      return counted(storm, event, nowMs);
  }
}

function counted(
  storm: Storm,
  { counted: now, paceMs, windowMs }: Extract<StormEvent, { kind: 'counted' }>,
  nowMs: number,
): Storm {
  const { taken, counted: before } = storm;
  const endsMs = endsAtMs(storm.sinceMs, now.summary, windowMs);
  const endedMs = storm.endedMs ?? (nowMs < endsMs ? undefined : nowMs);
  const isNews = endedMs !== storm.endedMs || JSON.stringify(now) !== JSON.stringify(before);
  const hasItems = now.count > (now.summary.above ?? 0);
  const untold: Telling[] = [
    ...(isNews && hasItems ? (['digest'] as const) : []),
    ...(taken && now.recovered > before.recovered ? (['taker'] as const) : []),
    // Those above may have been resolved before they belonged to it.
    ...((now.summary.above ?? 0) > (before.summary.above ?? 0) ? (['alerts'] as const) : []),
  ];
  const { lookAtMs: _last, ...rest } = storm;
  const lastMs = endedMs === undefined ? endsMs : endedMs + settleMs;
  const lookAtMs = isNews || !storm.isQuiet ? nowMs + paceMs : nowMs < lastMs ? lastMs : undefined;
  return {
    ...rest,
    counted: now,
    ...withoutUndefined({ endedMs, lookAtMs }),
    isQuiet: !isNews,
    untold: untold.length === 0 ? storm.untold : distinct([...storm.untold, ...untold]),
  };
}

/** When it is work again; undefined: not before something happens to it. */
export function dueInMs({ untold, lookAtMs }: Storm, nowMs: number): number | undefined {
  if (untold.length > 0) return 0;
  return lookAtMs === undefined ? undefined : Math.max(0, lookAtMs - nowMs);
}

/** When a storm is over if nothing more comes: it goes on for as long as no fewer come than can be told one by one. */
function endsAtMs(
  sinceMs: number,
  pace: Pick<StormSummary, 'lastAddedMs' | 'lately'>,
  windowMs: number,
): number {
  return Math.max(sinceMs, lastStormyMs(pace)) + windowMs;
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

function distinct<Text extends string>(all: readonly Text[]): Text[] {
  return [...new Set(all)];
}
