import type { Confirmation } from './transaction.ts';
import type { OutsideDecline } from './decline-reason.ts';
import type { FailureKind } from './failure.ts';
import type { Money } from './money.ts';
import { type PaymentEventKind } from './payment-event.ts';

/** The spec's two environments, shown unmistakably on every surface. */
export type Environment = 'live' | 'sandbox';

/**
 * The result of an event's look-up. `unchecked`: the service gave no answer, so only the signed event counts.
 * `no_reference`: no signed order reference, and no signed field ties the unsigned one to a record.
 */
export type Lookup =
  | Confirmation
  /** `sinceMs`: since when the whole service fails; absent if only this order may be concerned. */
  | { kind: 'unchecked'; failure: FailureKind; sinceMs?: number }
  | { kind: 'no_reference' };

export const severities = ['low', 'normal', 'high', 'critical'] as const;

/** A rule's severity in its own word; shown to people. `critical` also escalates in quiet hours. */
export type Severity = (typeof severities)[number];

/** The person or user group that a rule's alerts call, by Slack's id. */
export type Mention = { kind: 'person' | 'group'; id: string };

/** Calls `to` if nobody has acknowledged an alert after `afterMs`. */
export type EscalationStep = { afterMs: number; to: Mention };

/** The state of a failed charge's alert. People are Slack user ids, times UTC ms. `recovered` and `closed` are final. */
export type AlertCard =
  | { kind: 'open' }
  | Acknowledged
  | { kind: 'recovered'; at: number; payment: Recovery; acknowledged?: Acknowledged }
  | { kind: 'closed'; at: number; by: string; reason: string; acknowledged?: Acknowledged };

export type Acknowledged = {
  kind: 'acknowledged';
  by: string;
  at: number;
  assignee?: string;
  snoozedUntil?: number;
};

/** The payment that resolved a failure. `afterMs`: between their events; negative if the payment came first. */
export type Recovery = {
  reference: string;
  /** The failed reference was paid; else another one of the same customer or card. */
  isSameReference: boolean;
  /** A charge begun from this alert. */
  isChargedAgain?: boolean;
  money: Money;
  afterMs: number;
};

/** A final state. */
export type EndedCard = Extract<AlertCard, { kind: 'recovered' | 'closed' }>;

/** The one charge begun from an alert that may move money. `by`: Slack user id; `at`: its beginning. */
export type AlertCharge = {
  reference: string;
  by: string;
  at: number;
  /** The bot can't tell whether money moved: a person decides. */
  needsReview?: true;
};

/** Why no charge can begin from an alert now. */
export type AlertTaken = { kind: 'ended'; card: EndedCard } | { kind: 'charging'; charge: AlertCharge };

type AlertClaim =
  /** `release` undoes this claim if the charge was not stored; never throws StoreUnavailable. */
  { kind: 'claimed'; release: () => Promise<void> } | { kind: 'taken'; taken: AlertTaken };

/** A charge or link of the bot's own. `card`: the charged card's fingerprint; `alert`: where it was begun. */
export type BotCharge = { card?: string; agent?: string; alert?: string };

/** How an alert ended, for the charges begun from it: by another payment, or by a person. */
export type AlertEnd = { kind: 'paid'; reference: string } | { kind: 'closed'; by: string; reason: string };

/** `failed`: the alert's reference. */
export type AlertNews = AlertEnd & { failed: string };

/**
 * One charge of an alert may move money at a time: it holds the alert from before it is sent until it has ended without
 * money. An alert and the alerts of its charges count as one. Throws StoreUnavailable.
 */
export type AlertClaims = {
  /** Decided by one swap, on all replicas. A repeat for the same reference is claimed too. */
  claim(alert: string, charge: Pick<AlertCharge, 'reference' | 'by'>): Promise<AlertClaim>;
  /** What would refuse that claim now. Changes nothing. */
  taken(alert: string, reference?: string): Promise<AlertTaken | undefined>;
  /** The decline that counts for this card fingerprint when it is charged for that failure. */
  declined(alert: string, card: string): Promise<OutsideDecline | undefined>;
  /** Updates the alert's messages after its charge ended without money, or needs review. */
  retell(alert: string): Promise<void>;
};

/** A charge or link of the bot's own, proven paid. */
export type ProvenPayment = {
  reference: string;
  money: Money;
  customerEmail: string;
  customerId?: string | undefined;
  /** The time of the proof. */
  atMs: number;
};

/** `card_saved`: a success with news of the saved card; also a `payment_success`. */
export type RoutedKind = PaymentEventKind | 'card_saved';

/** Inclusive; an absent end is open. */
export type AmountRange = { fromMinor?: number; toMinor?: number };

export type CustomerPattern = { kind: 'exact' | 'prefix'; text: string };

/**
 * What a rule tests: each part given must hold, and fails if the event lacks it. E-mail domain and reason are in lower
 * case, the reason on one line.
 */
export type RouteMatch = {
  event?: RoutedKind;
  environment?: Environment;
  /** The merchant account's name in the bot's settings. */
  account?: string;
  /** True: a saved card's charge. False: the first payment, which saves the card. */
  isSavedCardCharge?: boolean;
  currency?: string;
  amount?: AmountRange;
  customer?: CustomerPattern;
  emailDomain?: string;
  reasonPart?: string;
};

/** Local wall-clock time in minutes since midnight, end exclusive; may span midnight. */
export type QuietHours = { fromMinute: number; toMinute: number; timeZone: string };

/** One rule of `payops.yml`. It mentions nobody in its quiet hours. */
export type AlertRule = {
  name: string;
  match: RouteMatch;
  channels: readonly string[];
  mention?: Mention;
  severity?: Severity;
  quietHours?: QuietHours;
  /** In order of time. */
  escalate?: readonly EscalationStep[];
  /** How many failures, and payments, a channel gets singly before a digest; 0: all. Rules with it count alone. */
  digestAfter?: number;
  /** Later rules are tried too. */
  goesOn: boolean;
};

/** The bot's place, the same for all its events. */
export type RoutePlace = { environment: Environment; account: string };

/** The rules in order, then the channels for events that no rule took. */
export type RoutePlan = RoutePlace & {
  rules: readonly AlertRule[];
  /** Also gets every saved card, and every card that should be saved and has no token. */
  failures: string;
  /** Undefined: successes that no rule takes are remembered and not posted. */
  successes: string | undefined;
};

/** Whether the plan posts anything in that channel. */
export function tellsAnything({ failures, successes, rules }: RoutePlan, channel: string): boolean {
  return [failures, successes, ...rules.flatMap((rule) => rule.channels)].includes(channel);
}

/** The part of a rule that an alert stores. */
export type RoutedRule = Pick<
  AlertRule,
  'name' | 'mention' | 'severity' | 'quietHours' | 'escalate' | 'digestAfter'
>;

/** Whether a rule can match in this place. */
export function isOfPlace({ environment, account }: RouteMatch, place: RoutePlace): boolean {
  return isSame(environment, place.environment) && isSame(account, place.account);
}

export function isSame<T>(wanted: T | undefined, given: T | undefined): boolean {
  return wanted === undefined || wanted === given;
}

/** Silences matching events in one channel for a time. Times are UTC ms. */
export type AlertMute = {
  id: string;
  channel: string;
  /** Matches events that this rule of `payops.yml` sends there. */
  rule?: string;
  match: Pick<RouteMatch, 'reasonPart' | 'customer'>;
  why: string;
  by: string;
  fromMs: number;
  untilMs: number;
  endedBy?: string;
  /** Ended for good, even if a clock is behind: its channel gets what it held back. */
  isOver: boolean;
};

/** Events that a mute held back. */
export type NotPosted = {
  count: number;
  /** The newest ones; `isOver`: resolved or closed since. */
  newest: readonly { orderReference?: string; isOver: boolean }[];
};
