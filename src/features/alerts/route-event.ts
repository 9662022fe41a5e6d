import type { Account } from '../../account.ts';
import { type AlertRoute, recordOfOrder, withProvenOrder } from './alert.ts';
import {
  type Lookup,
  type RoutedKind,
  type AmountRange,
  type CustomerPattern,
  type RouteMatch,
  type QuietHours,
  type EventAccount,
  type RoutePlan,
  type RoutedRule,
  matchesAccount,
  isUnsetOrEqual,
  type AlertMute,
} from '../../domain/alert.ts';
import { oneLine } from '../../domain/outside-text.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { moneyToTake, type Transaction } from '../../domain/transaction.ts';
import { withoutUndefined } from '../../domain/json.ts';

/** A channel that gets an event, and the rule that sends it there; without a rule, `channels` of payops.yml does. */
export type Destination = { channel: string; rule?: RoutedRule };

/**
 * The channels that get an event, and the mutes that held it back from others; neither: it is only stored. `byCharge`: shown by
 * its charge's message or in an alert's thread instead.
 */
export type Routed = { routed: Destination[]; keptBy?: string[]; byCharge?: true };

/** Finds an event's channels; `lookup`: if there was one. */
export type Route = (event: PaymentEvent, receivedAtMs: number, lookup?: Lookup) => Promise<Routed>;

export type RoutingNeeds = {
  /** Current and recent mutes. */
  mutes: () => Promise<readonly AlertMute[]>;
  /** Whether the bot's own charge shows its failure in its own message. */
  tellsFailure: (reference: string) => Promise<boolean>;
};

/** Decides which channels get an event. `needsLookUp`: whether only a look-up can say. */
export function createRouting(
  { rules: { routes }, now }: Pick<Account, 'rules' | 'now'>,
  needs: RoutingNeeds & {
    /** Tells of a refund where people look for its payment; false: it needs a message of its own. */
    tellGivenBack: (event: PaymentEvent, lookup: Lookup) => Promise<boolean>;
  },
): { route: Route; needsLookUp: (event: PaymentEvent) => Promise<boolean> } {
  return {
    async route(event, receivedAtMs, lookup) {
      const { kind, orderReference } = event;
      if (kind === 'payment_failed' && orderReference && (await needs.tellsFailure(orderReference)))
        return { routed: [], byCharge: true };
      if (lookup && (await needs.tellGivenBack(event, lookup))) return { routed: [], byCharge: true };
      const { routed, ...others } = routesOf(await needs.mutes(), {
        event,
        receivedAtMs,
        nowMs: now(),
        plan: routes,
      });
      return { routed: routed.map(storedPart), ...others };
    },
    async needsLookUp(event) {
      // The look-up names the payment that was given back, and so the threads it is told in.
      if (event.kind === 'payment_given_back') return true;
      const lasting = (await needs.mutes()).filter(({ isOver }) => !isOver);
      return needsLookUp(routes, event, lasting);
    },
  };
}

/** The part of a rule that is stored with the event, so that later settings don't change its messages. */
function storedPart({ channel, rule }: Destination): Destination {
  if (!rule) return { channel };
  const { name, mention, severity, quietHours, escalate, digestAfter } = rule;
  return { channel, rule: withoutUndefined({ name, mention, severity, quietHours, escalate, digestAfter }) };
}

/**
 * Routes an event by rules and mutes. A channel still gets a muted event if another rule sends it there, or if it is routed
 * after the mute's end: by then the channel has read what the mute held back.
 */
export function routesOf(
  mutes: readonly AlertMute[],
  about: { event: PaymentEvent; receivedAtMs: number; nowMs: number; plan: RoutePlan },
): Routed {
  const { event, receivedAtMs, nowMs, plan } = about;
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

/** The channels of an event, each once, by the first rule that names it and that `maySend` allows. */
export function destinationsOf(
  plan: RoutePlan,
  event: PaymentEvent,
  maySend: (to: Destination) => boolean = () => true,
): Destination[] {
  const fitting = plan.rules.filter(({ match }) => fits(match, event, plan));
  const last = fitting.findIndex(({ continues }) => !continues);
  const named: Destination[] = (last < 0 ? fitting : fitting.slice(0, last + 1)).flatMap((rule) =>
    rule.channels.map((channel) => ({ channel, rule })),
  );
  if (last < 0) named.push(...restOf(plan, event).map((channel) => ({ channel })));
  return named
    .filter(maySend)
    .filter(({ channel }, index, sent) => sent.findIndex((one) => one.channel === channel) === index);
}

/** The channels under `channels` in payops.yml, for events that no rule takes. */
function restOf({ failures, successes }: RoutePlan, event: PaymentEvent): string[] {
  if (event.kind !== 'payment_success') return [failures];
  return [...(event.cardSaved ? [failures] : []), ...(successes === undefined ? [] : [successes])];
}

export function fits(match: RouteMatch, event: PaymentEvent, account: EventAccount): boolean {
  return (
    isOfKind(match.event, event) &&
    matchesAccount(match, account) &&
    isUnsetOrEqual(match.isSavedCardCharge, event.isSavedCardCharge) &&
    isUnsetOrEqual(match.currency, event.currency) &&
    isWithin(match.amount, event.amountMinor) &&
    isCustomer(match.customer, event.customerId) &&
    isUnsetOrEqual(match.emailDomain, domainOf(event.customerEmail)) &&
    holdsPart(match.reasonPart, event.reason)
  );
}

function isOfKind(wanted: RoutedKind | undefined, event: PaymentEvent): boolean {
  if (wanted !== 'card_saved') return isUnsetOrEqual(wanted, event.kind);
  return event.kind === 'payment_success' && event.cardSaved !== undefined;
}

function isWithin(range: AmountRange | undefined, minor: number | undefined): boolean {
  if (!range) return true;
  return minor !== undefined && minor >= (range.fromMinor ?? 0) && minor <= (range.toMinor ?? Infinity);
}

function isCustomer(pattern: CustomerPattern | undefined, id: string | undefined): boolean {
  if (!pattern) return true;
  if (id === undefined) return false;
  return pattern.kind === 'exact' ? id === pattern.text : id.startsWith(pattern.text);
}

function domainOf(email: string | undefined): string | undefined {
  const [, domain] = /@([^@]*)$/.exec(email ?? '') ?? [];
  return domain?.trim().toLowerCase();
}

/** Compares the reason on one line: people copy it from the alert. */
function holdsPart(part: string | undefined, reason: string | undefined): boolean {
  return part === undefined || (reason !== undefined && oneLine(reason).toLowerCase().includes(part));
}

/**
 * Whether the event's channels depend on a field that it lacks and a look-up may give; then it is routed after a look-up. An
 * event may have nothing but a reference.
 *
 * Spec: Events (payload fields beyond those listed: not shown).
 */
export function needsLookUp(
  plan: RoutePlan,
  event: PaymentEvent,
  mutes: readonly Pick<AlertMute, 'match'>[] = [],
): boolean {
  const mayFit = (match: RouteMatch): boolean => fits(knownParts(match, event), event, plan);
  if (mutes.some(({ match }) => !fits(match, event, plan) && mayFit(match))) return true;
  for (const { match, continues } of plan.rules) {
    if (fits(match, event, plan)) {
      if (!continues) return false;
    } else if (mayFit(match)) return true;
  }
  return false;
}

/** The match without the fields that the event lacks and a look-up may give. */
function knownParts(match: RouteMatch, event: PaymentEvent): RouteMatch {
  const { currency, amount, emailDomain, reasonPart, ...rest } = match;
  return withoutUndefined({
    ...rest,
    currency: event.currency === undefined ? undefined : currency,
    amount: event.amountMinor === undefined ? undefined : amount,
    emailDomain: event.customerEmail === undefined ? undefined : emailDomain,
    reasonPart: event.reason === undefined ? undefined : reasonPart,
  });
}

/** The event, completed by its order's record, for rules and counts. */
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

/** The record's amount; for a failure the amount that was to be taken. Without an amount if the event's currency differs. */
function moneyOf(
  { kind, currency: ofEvent }: PaymentEvent,
  transaction: Transaction,
): { amountMinor: number | undefined; currency: string | undefined } {
  const { amountMinor, orderAmountMinor } = transaction;
  const currency = transaction.currency ?? transaction.orderCurrency;
  const toTake = kind === 'payment_failed' ? moneyToTake(transaction) : undefined;
  const found = toTake ?? { minor: amountMinor ?? orderAmountMinor, currency };
  // In capitals, like the currencies of rules and events.
  const ofRecord = found.currency?.toUpperCase();
  const differs = ofEvent !== undefined && ofRecord !== undefined && ofRecord !== ofEvent;
  return { amountMinor: differs ? undefined : found.minor, currency: ofRecord };
}

export function isQuiet(hours: QuietHours, atMs: number): boolean {
  return quietEnd(hours, atMs) > atMs;
}

const minutesADay = 24 * 60;

/** The next time that isn't quiet (UTC ms). An hour off in the night when the time zone's clock changes. */
export function quietEnd({ fromMinute, toMinute, timeZone }: QuietHours, atMs: number): number {
  const passed = minutesBetween(fromMinute, minuteOfDay(atMs, timeZone));
  const left = minutesBetween(fromMinute, toMinute) - passed;
  return left <= 0 ? atMs : atMs - (atMs % 60_000) + left * 60_000;
}

/** Past midnight, too. */
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

/** The rule as a message posted at that time shows it, also in later edits. In quiet hours it mentions nobody. */
export function routeAt(rule: RoutedRule, postedAtMs: number, mayCall: boolean): AlertRoute {
  const { name, severity, mention, quietHours } = rule;
  const mayMention = mayCall && !(quietHours && isQuiet(quietHours, postedAtMs));
  return { rule: name, ...withoutUndefined({ severity, mention: mayMention ? mention : undefined }) };
}
