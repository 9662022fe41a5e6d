import {
  recordOfOrder,
  type AlertRoute,
  type Environment,
  type Lookup,
  type Mention,
  type Severity,
} from './alert.ts';
import { oneLine } from './outside-text.ts';
import type { PaymentEvent, PaymentEventKind } from './payment-event.ts';
import { moneyToTake, type Transaction } from './transaction.ts';
import { withoutUndefined } from './without-undefined.ts';

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
  /** How many of its failures, and of its payments, a channel is told singly before a digest tells them; 0: all of them. Absent: as everywhere; see `countsAlone`. */
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

/** What an alert keeps of the rule that sent it to its channel. */
export type RoutedRule = Pick<AlertRule, 'name' | 'mention' | 'severity' | 'quietHours' | 'digestAfter'>;

/** One channel that is told an event, and the rule that says so; without a rule it is `channels` that does. */
export type Destination = { channel: string; rule?: RoutedRule };

/**
 * Every channel that an event received then is told in, each once, by the first rule that names it; empty when it
 * is remembered and not told. A muted rule takes its events like any other and tells none of them: what another rule
 * tells the same channel is told all the same. So is it where `mayTell` keeps back what one rule tells.
 */
export function destinationsOf(
  plan: RoutePlan,
  event: PaymentEvent,
  receivedAtMs: number,
  mayTell: (to: Destination) => boolean = () => true,
): Destination[] {
  const { rules, leavesIt } = takersOf(plan, event);
  const told: Destination[] = rules
    .filter((rule) => !isMuted(rule, receivedAtMs))
    .flatMap((rule) => rule.channels.map((channel) => ({ channel, rule })));
  if (leavesIt) told.push(...restOf(plan, event).map((channel) => ({ channel })));
  return told
    .filter(mayTell)
    .filter(({ channel }, index, may) => may.findIndex((earlier) => earlier.channel === channel) === index);
}

/** Where `channels` sends what no rule takes. */
function restOf({ failures, successes }: RoutePlan, event: PaymentEvent): string[] {
  if (event.kind === 'payment_failed') return [failures];
  return [...(event.cardSaved ? [failures] : []), ...(successes === undefined ? [] : [successes])];
}

/** The rules that fit, up to the first that does not go on; `leavesIt` when there is no such rule. */
function takersOf(plan: RoutePlan, event: PaymentEvent): { rules: AlertRule[]; leavesIt: boolean } {
  const takers: AlertRule[] = [];
  for (const rule of plan.rules) {
    if (!fits(rule.match, event, plan)) continue;
    takers.push(rule);
    if (!rule.goesOn) return { rules: takers, leavesIt: false };
  }
  return { rules: takers, leavesIt: true };
}

/** Whether an event is what a rule asks for. */
export function fits(match: RouteMatch, event: PaymentEvent, place: RoutePlace): boolean {
  return (
    isOfKind(match.event, event) &&
    isOfPlace(match, place) &&
    isSame(match.isSavedCardCharge, event.isSavedCardCharge) &&
    isSame(match.currency, event.currency) &&
    isWithin(match.amount, event.amountMinor) &&
    isCustomer(match.customer, event.customerId) &&
    isSame(match.emailDomain, domainOf(event.customerEmail)) &&
    holdsPart(match.reasonPart, event.reason)
  );
}

/** Whether a rule may fit there at all. */
export function isOfPlace({ environment, account }: RouteMatch, place: RoutePlace): boolean {
  return isSame(environment, place.environment) && isSame(account, place.account);
}

function isOfKind(wanted: RoutedKind | undefined, event: PaymentEvent): boolean {
  if (wanted !== 'card_saved') return isSame(wanted, event.kind);
  return event.kind === 'payment_success' && event.cardSaved !== undefined;
}

function isSame<T>(wanted: T | undefined, given: T | undefined): boolean {
  return wanted === undefined || wanted === given;
}

/** An amount nobody names is within no range. */
export function isWithin(range: AmountRange | undefined, minor: number | undefined): boolean {
  if (!range) return true;
  return minor !== undefined && minor >= (range.fromMinor ?? 0) && minor <= (range.toMinor ?? Infinity);
}

function isCustomer(pattern: CustomerPattern | undefined, id: string | undefined): boolean {
  if (!pattern) return true;
  if (id === undefined) return false;
  return pattern.kind === 'exact' ? id === pattern.text : id.startsWith(pattern.text);
}

/** What stands behind the last @, in lower case. */
export function domainOf(email: string | undefined): string | undefined {
  const at = email?.lastIndexOf('@') ?? -1;
  return at < 0
    ? undefined
    : email
        ?.slice(at + 1)
        .trim()
        .toLowerCase();
}

/** In one line, as the alert shows the reason and people copy it. */
function holdsPart(part: string | undefined, reason: string | undefined): boolean {
  return part === undefined || (reason !== undefined && oneLine(reason).toLowerCase().includes(part));
}

/**
 * Whether where it is told hangs on something that it does not say itself and a look-up may: then it is routed
 * once it was looked up. Events need not say more than a reference.
 *
 * Spec: Events (payload fields beyond those listed: not shown).
 */
export function needsLookUp(plan: RoutePlan, event: PaymentEvent): boolean {
  for (const { match, goesOn } of plan.rules) {
    if (fits(match, event, plan)) {
      if (!goesOn) return false;
    } else if (fits(partsItSays(match, event), event, plan)) return true;
  }
  return false;
}

/** What a rule asks for, without what a look-up could still say. */
function partsItSays(match: RouteMatch, event: PaymentEvent): RouteMatch {
  const { currency, amount, emailDomain, reasonPart, ...rest } = match;
  return withoutUndefined({
    ...rest,
    currency: event.currency === undefined ? undefined : currency,
    amount: event.amountMinor === undefined ? undefined : amount,
    emailDomain: event.customerEmail === undefined ? undefined : emailDomain,
    reasonPart: event.reason === undefined ? undefined : reasonPart,
  });
}

/** The event, and what the look-up of that very order says where the event is silent: for its rules alone. */
export function withLookUp(event: PaymentEvent, lookup: Lookup): PaymentEvent {
  const transaction = recordOfOrder(lookup);
  if (!transaction) return event;
  const found = {
    ...moneyOf(event, transaction),
    customerEmail: transaction.customerEmail,
    reason: transaction.gatewayMessage,
  };
  return { ...withoutUndefined(found), ...event };
}

/**
 * Of a failure what was to be taken, as its alert shows it: nothing was. An amount is one of its own currency: beside
 * another one, that the event names, it is none.
 */
function moneyOf(
  { kind, currency: told }: PaymentEvent,
  transaction: Transaction,
): { amountMinor: number | undefined; currency: string | undefined } {
  const { amountMinor, orderAmountMinor } = transaction;
  const currency = transaction.currency ?? transaction.orderCurrency;
  const toTake = kind === 'payment_failed' ? moneyToTake(transaction) : undefined;
  const found = toTake ?? { minor: amountMinor ?? orderAmountMinor, currency };
  // In capitals, as rules and events name theirs.
  const named = found.currency?.toUpperCase();
  const isOther = told !== undefined && named !== undefined && named !== told;
  return { amountMinor: isOther ? undefined : found.minor, currency: named };
}

/**
 * Whether a storm of other alerts leaves this rule’s alone: it says its own number, or it calls somebody, which the
 * digest that is edited for its alerts would not.
 */
export function countsAlone({ digestAfter, mention }: RoutedRule): boolean {
  return digestAfter !== undefined || mention !== undefined;
}

export function isMuted({ mutedUntilMs }: AlertRule, atMs: number): boolean {
  return mutedUntilMs !== undefined && atMs < mutedUntilMs;
}

/** By the wall clock of its time zone, so that summer time moves it along. */
export function isQuiet({ fromMinute, toMinute, timeZone }: QuietHours, atMs: number): boolean {
  const minute = minuteOfDay(atMs, timeZone);
  return fromMinute < toMinute
    ? minute >= fromMinute && minute < toMinute
    : minute >= fromMinute || minute < toMinute;
}

function minuteOfDay(atMs: number, timeZone: string): number {
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const [hour = '', minute = ''] = clock.format(atMs).split(':');
  return Number(hour) * 60 + Number(minute);
}

/**
 * What a message posted then says of its rule, and goes on saying when it is edited, which calls nobody. One posted in
 * quiet hours mentions nobody.
 */
export function routeAt(rule: RoutedRule, postedAtMs: number, mayCall: boolean): AlertRoute {
  const { name, severity, mention, quietHours } = rule;
  const mayMention = mayCall && !(quietHours && isQuiet(quietHours, postedAtMs));
  return {
    rule: name,
    ...(severity === undefined ? {} : { severity }),
    ...(mention && mayMention ? { mention } : {}),
  };
}
