import { type Environment, type Mention, type Severity } from './alert.ts';
import { type PaymentEventKind } from './payment-event.ts';

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

/** One rule of `payops.yml`. Mentions nobody in its quiet hours, and tells nothing before `mutedUntilMs`. */
export type AlertRule = {
  name: string;
  match: RouteMatch;
  channels: readonly string[];
  mention?: Mention;
  severity?: Severity;
  quietHours?: QuietHours;
  mutedUntilMs?: number;
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
export type RoutedRule = Pick<AlertRule, 'name' | 'mention' | 'severity' | 'quietHours' | 'digestAfter'>;

/** One channel that is told an event, and the rule that says so; without a rule it is `channels` that does. */
export type Destination = { channel: string; rule?: RoutedRule };

/** Whether a rule may fit there at all. */
export function isOfPlace({ environment, account }: RouteMatch, place: RoutePlace): boolean {
  return isSame(environment, place.environment) && isSame(account, place.account);
}

export function isSame<T>(wanted: T | undefined, given: T | undefined): boolean {
  return wanted === undefined || wanted === given;
}

export function isMuted({ mutedUntilMs }: AlertRule, atMs: number): boolean {
  return mutedUntilMs !== undefined && atMs < mutedUntilMs;
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
