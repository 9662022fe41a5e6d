import type { Confirmation } from './transaction.ts';
import type { KnownDecline, OutsideDecline } from './decline-reason.ts';
import type { FailureKind } from './failure.ts';
import type { Money } from './money.ts';
import { type PaymentEventKind } from './payment-event.ts';

/** The specification's two environments. Every screen names its environment. */
export type Environment = 'live' | 'sandbox';

/**
 * The result of an event's look-up. `unchecked`: the service gave no answer, so only the signed event counts.
 * `no_reference`: the event has no signed order reference, and no signed field that links its unsigned one to a record.
 */
export type Lookup =
  | Confirmation
  /** `sinceMs`: since when all look-ups fail, UTC ms; absent if perhaps only this order's look-up fails. */
  | { kind: 'unchecked'; failure: FailureKind; sinceMs?: number }
  | { kind: 'no_reference' };

export const severities = ['low', 'normal', 'high', 'critical'] as const;

/** A rule's severity, in the policy file's own word. `critical` also escalates during quiet hours. */
export type Severity = (typeof severities)[number];

/** The person or user group, by Slack id, that a rule's alerts mention. */
export type Mention = { kind: 'person' | 'group'; id: string };

/** Mentions `to` if the alert is not acknowledged after `afterMs`. */
export type EscalationStep = { afterMs: number; to: Mention };

/**
 * The state of a failed charge's alert. People are Slack user ids, times UTC ms. `recovered` and `closed` are final.
 */
export type AlertState =
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

/**
 * The payment that resolved a failure. `afterMs`: the time from the failure's event to the payment's; negative if the
 * payment came first.
 */
export type Recovery = {
  reference: string;
  /** True: the failed order itself was paid. False: another order of the same customer or card. */
  isSameReference: boolean;
  /** The payment is of a charge or payment link for this alert. */
  isChargedAgain?: boolean;
  money: Money;
  afterMs: number;
};

export type EndedAlert = Extract<AlertState, { kind: 'recovered' | 'closed' }>;

/**
 * The charge begun from an alert that may still move money; there is at most one. `by`: Slack user id; `at`: when it
 * was begun.
 */
export type AlertCharge = {
  reference: string;
  by: string;
  at: number;
  /** The bot can't tell whether money moved: a person decides. */
  needsReview?: true;
};

/** Why no charge can be begun from an alert now: the alert has ended, or another charge is open. */
export type AlertTaken = { kind: 'ended'; state: EndedAlert } | { kind: 'charging'; charge: AlertCharge };

/** A decline, as a look-up shows it. `taken`: its alert has ended or is being charged, so no other payment may begin. */
export type FoundDecline = KnownDecline & { taken?: AlertTaken };

type AlertClaim =
  /** Call `release` if the charge was not stored: it undoes the claim. Never throws StoreUnavailable. */
  { kind: 'claimed'; release: () => Promise<void> } | { kind: 'taken'; taken: AlertTaken };

/** A payment link, or a charge begun from an alert, that may be paid or is paid already. `by`: Slack user id. */
export type OpenPayment = {
  reference: string;
  by: string;
  atMs: number;
  outcome: 'unpaid' | 'perhaps_paid';
};

/** A charge or link of the bot's own. `card`: the charged card's fingerprint; `alert`: the alert it was begun from. */
export type BotCharge = { card?: string; agent?: string; alert?: string };

/** How an alert ended, for the messages of the charges begun from it: by another payment, or by a person. */
export type AlertEnd = { kind: 'paid'; reference: string } | { kind: 'closed'; by: string; reason: string };

/** The end of an alert, and the reference of the order that had failed. */
export type AlertNews = AlertEnd & { failed: string };

/**
 * Lets only one charge at a time move money for an alert. A charge claims the alert before it is sent, and holds the
 * claim until it has ended without money. If such a charge fails, its own alert shares the claims of the first alert.
 * Methods throw StoreUnavailable.
 */
export type AlertClaims = {
  /** Claims the alert over all replicas, by a compare-and-swap. Idempotent for a reference. */
  claim(alert: string, charge: Pick<AlertCharge, 'reference' | 'by'>): Promise<AlertClaim>;
  /** Why `claim` for this reference would be refused now; undefined: it would succeed. Changes nothing. */
  taken(alert: string, reference?: string): Promise<AlertTaken | undefined>;
  /** The alert's failure as a decline of the card with this fingerprint, if the bank declined that card. */
  declined(alert: string, card: string): Promise<OutsideDecline | undefined>;
  /** Updates the alert's messages after its charge ended without money, or needs review. */
  updateMessages(alert: string): Promise<void>;
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

/** `card_saved`: a success whose event has the saved card. It counts as a `payment_success`, too. */
export type RoutedKind = PaymentEventKind | 'card_saved';

/** Both ends are inclusive; an absent end is unlimited. */
export type AmountRange = { fromMinor?: number; toMinor?: number };

export type CustomerPattern = { kind: 'exact' | 'prefix'; text: string };

/**
 * What a rule tests. Every given part must match; an event without the tested field doesn't match. E-mail domain and
 * reason are in lower case, the reason on one line.
 */
export type RouteMatch = {
  event?: RoutedKind;
  environment?: Environment;
  /** The merchant account's name in the bot's settings. */
  account?: string;
  /** True: the charge of a saved card. False: the first payment, which saves the card. */
  isSavedCardCharge?: boolean;
  currency?: string;
  amount?: AmountRange;
  customer?: CustomerPattern;
  emailDomain?: string;
  reasonPart?: string;
};

/** From and to, in minutes since local midnight; the end is exclusive. The hours may span midnight. */
export type QuietHours = { fromMinute: number; toMinute: number; timeZone: string };

/** One rule of `payops.yml`. During its quiet hours it mentions nobody. */
export type AlertRule = {
  name: string;
  match: RouteMatch;
  channels: readonly string[];
  mention?: Mention;
  severity?: Severity;
  quietHours?: QuietHours;
  /** Sorted by time. */
  escalate?: readonly EscalationStep[];
  /**
   * How many failures, and how many payments, a channel gets one by one before a digest replaces them; 0: no digest. A
   * rule with its own value counts only its own events.
   */
  digestAfter?: number;
  /** True: later rules also get the events that this one matches. */
  continues: boolean;
};

export type EventAccount = { environment: Environment; account: string };

/** Where one account's events are posted: by the first matching rule, else in the channels below. */
export type RoutePlan = EventAccount & {
  rules: readonly AlertRule[];
  /** For failures; also for every saved card, and every card that should have been saved but has no token. */
  failures: string;
  /** Undefined: successes that no rule takes are stored but not posted. */
  successes: string | undefined;
};

export function postsTo({ failures, successes, rules }: RoutePlan, channel: string): boolean {
  return [failures, successes, ...rules.flatMap((rule) => rule.channels)].includes(channel);
}

/** The part of a rule that an alert stores. */
export type RoutedRule = Pick<
  AlertRule,
  'name' | 'mention' | 'severity' | 'quietHours' | 'escalate' | 'digestAfter'
>;

/** Whether a rule can match events of this account. */
export function matchesAccount({ environment, account }: RouteMatch, of: EventAccount): boolean {
  return isUnsetOrEqual(environment, of.environment) && isUnsetOrEqual(account, of.account);
}

export function isUnsetOrEqual<T>(wanted: T | undefined, given: T | undefined): boolean {
  return wanted === undefined || wanted === given;
}

/** Silences the matching events of one channel for a time. Times are UTC ms. */
export type AlertMute = {
  id: string;
  channel: string;
  /** Only events that this rule of `payops.yml` sends there. */
  rule?: string;
  match: Pick<RouteMatch, 'reasonPart' | 'customer'>;
  why: string;
  by: string;
  fromMs: number;
  untilMs: number;
  endedBy?: string;
  /** The mute has ended for good, even if the clock is put back. The channel gets the list of muted events. */
  isOver: boolean;
};

/** The events that a mute kept from its channel. */
export type NotPosted = {
  count: number;
  /** The newest of them; `isOver`: its alert was resolved since. */
  newest: readonly { orderReference?: string; isOver: boolean }[];
};
