import type { Confirmation } from './transaction.ts';
import type { OutsideDecline } from './decline-reason.ts';
import type { FailureKind } from './failure.ts';
import type { Money } from './money.ts';
import { type PaymentEventKind } from './payment-event.ts';

/** Which of the spec's two environments a thing happened in; unmistakable on every surface. */
export type Environment = 'live' | 'sandbox';

/**
 * What the look-up behind an event gave. `unchecked`: the payments service could not be asked, so nothing
 * is claimed beyond what the signed event says. `no_reference`: the event names no order under its signature,
 * and nothing signed ties the unsigned reference that came with it to a record.
 */
export type Lookup =
  | Confirmation
  /** `sinceMs`: since when the service as a whole gives no answer; absent where that may be about this order alone. */
  | { kind: 'unchecked'; failure: FailureKind; sinceMs?: number }
  | { kind: 'no_reference' };

export const severities = ['low', 'normal', 'high', 'critical'] as const;

/** How much a rule's alerts matter, by the rule's word; shown, and `critical` is escalated in quiet hours too. */
export type Severity = (typeof severities)[number];

/** Whom a rule's alerts call: a person or a user group, by Slack's id. */
export type Mention = { kind: 'person' | 'group'; id: string };

/** Who is called when nobody has acknowledged an alert after so long. */
export type EscalationStep = { afterMs: number; to: Mention };

/**
 * Where the card of a failed charge stands with the people who watch the alerts. People are Slack user ids,
 * times UTC milliseconds. `recovered` and `closed` are ends: nothing leaves them.
 */
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

/** The proven payment that resolved a failure. Its event came `afterMs` after the failure's, or before it (below zero). */
export type Recovery = {
  reference: string;
  /** The failed reference itself was paid; else another one of the same customer, or with the same card. */
  isSameReference: boolean;
  /** A charge that was begun from this very alert. */
  isChargedAgain?: boolean;
  money: Money;
  afterMs: number;
};

/** Nothing is done with it any more. */
export type EndedCard = Extract<AlertCard, { kind: 'recovered' | 'closed' }>;

/** The one charge that was begun from an alert and may move money. `by` is a Slack user id, `at` when it was begun. */
export type AlertCharge = {
  reference: string;
  by: string;
  at: number;
  /** The bot can't tell whether it moved money: a person decides. */
  needsReview?: true;
};

/** Why no charge can be begun from an alert now. */
export type AlertTaken = { kind: 'ended'; card: EndedCard } | { kind: 'charging'; charge: AlertCharge };

type AlertClaim =
  /** `release` takes back this very claim, for a charge that was not stored; never throws StoreUnavailable. */
  { kind: 'claimed'; release: () => Promise<void> } | { kind: 'taken'; taken: AlertTaken };

/** A charge or link of the bot's own: the card's fingerprint, of a charge, who has it, and the alert it was begun from. */
export type BotCharge = { card?: string; agent?: string; alert?: string };

/** What ended an alert, as a payment of the bot's own that was begun from it is told: another payment, or a person. */
export type AlertEnd = { kind: 'paid'; reference: string } | { kind: 'closed'; by: string; reason: string };

/** `failed`: the reference of the alert. */
export type AlertNews = AlertEnd & { failed: string };

/**
 * Of all charges that are begun from one alert, one may move money at a time: it has the alert from before it is sent
 * until it has ended without money. An alert and those of the charges begun from it are one. Throws StoreUnavailable.
 */
export type AlertClaims = {
  /** One swap decides, on all replicas. Again for the same reference: claimed. */
  claim(alert: string, charge: Pick<AlertCharge, 'reference' | 'by'>): Promise<AlertClaim>;
  /** What would speak against that claim now. Changes nothing. */
  taken(alert: string, reference?: string): Promise<AlertTaken | undefined>;
  /** The decline that counts for this card, by its fingerprint, when it is charged for that failure; undefined: none. */
  declined(alert: string, card: string): Promise<OutsideDecline | undefined>;
  /** Its charge has ended without money, or needs review: the alert's messages are to say so. */
  retell(alert: string): Promise<void>;
};

/** A charge or link of the bot's own that is proven paid. */
export type ProvenPayment = {
  reference: string;
  money: Money;
  customerEmail: string;
  customerId?: string | undefined;
  /** When it was proven. */
  atMs: number;
};

/** `card_saved`: a success that says what became of the card it saved; it is a `payment_success` too. */
export type RoutedKind = PaymentEventKind | 'card_saved';

/** Both ends belong to it; an end that is absent is open. */
export type AmountRange = { fromMinor?: number; toMinor?: number };

export type CustomerPattern = { kind: 'exact' | 'prefix'; text: string };

/**
 * What an event must be for a rule to fit: every part that is there must hold, and a part that the event says
 * nothing about does not hold. E-mail domain and reason are in lower case, the reason in one line.
 */
export type RouteMatch = {
  event?: RoutedKind;
  environment?: Environment;
  /** The merchant account's name in the settings of the bot. */
  account?: string;
  /** True: the charge of a saved card. False: the first payment, which saves it. */
  isSavedCardCharge?: boolean;
  currency?: string;
  amount?: AmountRange;
  customer?: CustomerPattern;
  emailDomain?: string;
  reasonPart?: string;
};

/** Local wall-clock time, in minutes since midnight: from the first until just before the second, over midnight too. */
export type QuietHours = { fromMinute: number; toMinute: number; timeZone: string };

/** One rule of `payops.yml`. Mentions nobody in its quiet hours. */
export type AlertRule = {
  name: string;
  match: RouteMatch;
  channels: readonly string[];
  mention?: Mention;
  severity?: Severity;
  quietHours?: QuietHours;
  /** From the earliest to the latest. */
  escalate?: readonly EscalationStep[];
  /** How many of its failures, and of its payments, a channel is told singly before a digest tells them; 0: all of them. Absent: as everywhere; such a rule’s are counted alone. */
  digestAfter?: number;
  /** The rules after it are asked too. */
  goesOn: boolean;
};

/** Where the bot works, which is the same for all its events. */
export type RoutePlace = { environment: Environment; account: string };

/** The rules in their order, and where what they leave is told: behind them, as `channels` says. */
export type RoutePlan = RoutePlace & {
  rules: readonly AlertRule[];
  /** Also told of every card that was saved, and of every one that was to be and has no token. */
  failures: string;
  /** Undefined: successes that no rule takes are remembered and not told. */
  successes: string | undefined;
};

/** Whether anything may be told in that channel. */
export function tellsAnything({ failures, successes, rules }: RoutePlan, channel: string): boolean {
  return [failures, successes, ...rules.flatMap((rule) => rule.channels)].includes(channel);
}

/** What an alert keeps of the rule that sent it to its channel. */
export type RoutedRule = Pick<
  AlertRule,
  'name' | 'mention' | 'severity' | 'quietHours' | 'escalate' | 'digestAfter'
>;

/** Whether a rule may fit there at all. */
export function isOfPlace({ environment, account }: RouteMatch, place: RoutePlace): boolean {
  return isSame(environment, place.environment) && isSame(account, place.account);
}

export function isSame<T>(wanted: T | undefined, given: T | undefined): boolean {
  return wanted === undefined || wanted === given;
}

/** What somebody keeps one channel from being told until then: what fits every part that is there. Times are UTC ms. */
export type AlertMute = {
  id: string;
  channel: string;
  /** What that rule of `payops.yml` sends there. */
  rule?: string;
  match: Pick<RouteMatch, 'reasonPart' | 'customer'>;
  why: string;
  by: string;
  fromMs: number;
  untilMs: number;
  endedBy?: string;
  /** Its channel is told what it kept back, and it keeps nothing more: not by a clock that is behind or was put back either. */
  isOver: boolean;
};

/** What a mute kept from its channel. */
export type NotPosted = {
  count: number;
  /** The newest of them; `isOver`: resolved or closed since. */
  newest: readonly { orderReference?: string; isOver: boolean }[];
};
