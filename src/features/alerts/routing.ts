import { type AlertRoute, recordOfOrder, withProvenOrder } from './alert.ts';
import {
  type Lookup,
  type RoutedKind,
  type AmountRange,
  type CustomerPattern,
  type RouteMatch,
  type QuietHours,
  type RoutePlace,
  type RoutePlan,
  type RoutedRule,
  isOfPlace,
  isSame,
  type AlertMute,
} from '../../domain/alert.ts';
import { oneLine } from '../../domain/outside-text.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { moneyToTake, type Transaction } from '../../domain/transaction.ts';
import { withoutUndefined } from '../../domain/json.ts';

/** One channel that is told an event, and the rule that says so; without a rule it is `channels` that does. */
export type Destination = { channel: string; rule?: RoutedRule };

/**
 * The channels that are told, and the mutes that keep it from others; neither: it is remembered and told nowhere.
 * `byCharge`: a charge of the bot's own tells its failure by its own message.
 */
export type Routed = { routed: Destination[]; keptBy?: string[]; byCharge?: true };

/**
 * Where an event is told that is routed now. If another rule tells a channel what a mute keeps from it, it is told. So
 * is what is routed after the mute's end, whenever it was received: the channel may know by then what was kept.
 */
export function routesOf(
  mutes: readonly AlertMute[],
  {
    event,
    receivedAtMs,
    nowMs,
    plan,
  }: { event: PaymentEvent; receivedAtMs: number; nowMs: number; plan: RoutePlan },
): Routed {
  const mutedBy = ({ channel, rule }: Destination): string[] =>
    mutes
      .filter(
        (mute) =>
          !mute.isOver &&
          mute.channel === channel &&
          (mute.rule === undefined || mute.rule === rule?.name) &&
          receivedAtMs >= mute.fromMs &&
          Math.max(receivedAtMs, nowMs) < mute.untilMs &&
          fits(mute.match, event, plan),
      )
      .map(({ id }) => id);
  const routed = destinationsOf(plan, event, (to) => mutedBy(to).length === 0);
  const keptBy = destinationsOf(plan, event)
    .filter(({ channel }) => !routed.some((one) => one.channel === channel))
    .flatMap(mutedBy);
  return { routed, ...(keptBy.length > 0 && { keptBy }) };
}

/**
 * Every channel that an event is told in, each once, by the first rule that names it; empty when it is remembered and not
 * told. Where `mayTell` keeps back what one rule tells, what another tells the same channel is told all the same.
 */
export function destinationsOf(
  plan: RoutePlan,
  event: PaymentEvent,
  mayTell: (to: Destination) => boolean = () => true,
): Destination[] {
  const fitting = plan.rules.filter(({ match }) => fits(match, event, plan));
  const last = fitting.findIndex(({ goesOn }) => !goesOn);
  const told: Destination[] = (last < 0 ? fitting : fitting.slice(0, last + 1)).flatMap((rule) =>
    rule.channels.map((channel) => ({ channel, rule })),
  );
  if (last < 0) told.push(...restOf(plan, event).map((channel) => ({ channel })));
  return told
    .filter(mayTell)
    .filter(({ channel }, index, may) => may.findIndex((earlier) => earlier.channel === channel) === index);
}

/** Where `channels` sends what no rule takes. */
function restOf({ failures, successes }: RoutePlan, event: PaymentEvent): string[] {
  if (event.kind !== 'payment_success') return [failures];
  return [...(event.cardSaved ? [failures] : []), ...(successes === undefined ? [] : [successes])];
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

function isOfKind(wanted: RoutedKind | undefined, event: PaymentEvent): boolean {
  if (wanted !== 'card_saved') return isSame(wanted, event.kind);
  return event.kind === 'payment_success' && event.cardSaved !== undefined;
}

/** An amount nobody names is within no range. */
function isWithin(range: AmountRange | undefined, minor: number | undefined): boolean {
  if (!range) return true;
  return minor !== undefined && minor >= (range.fromMinor ?? 0) && minor <= (range.toMinor ?? Infinity);
}

function isCustomer(pattern: CustomerPattern | undefined, id: string | undefined): boolean {
  if (!pattern) return true;
  if (id === undefined) return false;
  return pattern.kind === 'exact' ? id === pattern.text : id.startsWith(pattern.text);
}

/** What stands behind the last @, in lower case. */
function domainOf(email: string | undefined): string | undefined {
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
export function needsLookUp(
  plan: RoutePlan,
  event: PaymentEvent,
  mutes: readonly Pick<AlertMute, 'match'>[] = [],
): boolean {
  const mayFit = (match: RouteMatch): boolean => fits(partsItSays(match, event), event, plan);
  if (mutes.some(({ match }) => !fits(match, event, plan) && mayFit(match))) return true;
  for (const { match, goesOn } of plan.rules) {
    if (fits(match, event, plan)) {
      if (!goesOn) return false;
    } else if (mayFit(match)) return true;
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
  return { ...withoutUndefined(found), ...withProvenOrder(event, lookup) };
}

/**
 * Of a failure what was to be taken, as its alert shows it: nothing was. An amount in another currency than the event
 * names is left out.
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

export function isQuiet(hours: QuietHours, atMs: number): boolean {
  return quietEnd(hours, atMs) > atMs;
}

const minutesADay = 24 * 60;

/** The next moment that isn't quiet, by the time zone's clock; an hour off in the night when that clock changes. */
export function quietEnd({ fromMinute, toMinute, timeZone }: QuietHours, atMs: number): number {
  const passed = minutesBetween(fromMinute, minuteOfDay(atMs, timeZone));
  const left = minutesBetween(fromMinute, toMinute) - passed;
  return left <= 0 ? atMs : atMs - (atMs % 60_000) + left * 60_000;
}

/** Over midnight too. */
function minutesBetween(from: number, to: number): number {
  return (to - from + minutesADay) % minutesADay;
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
  return { rule: name, ...withoutUndefined({ severity, mention: mayMention ? mention : undefined }) };
}
