// Whether a rule can ever be reached: for the check of payops.yml, which refuses one that the rules before it leave nothing to.

import {
  fits,
  isOfPlace,
  isWithin,
  type AlertRule,
  type AmountRange,
  type CustomerPattern,
  type RouteMatch,
  type RoutePlace,
  type RoutedKind,
} from './alert-route.ts';
import type { PaymentEvent } from './payment-event.ts';

/** An event as a rule sees it. */
export type Example = RoutePlace & { event: PaymentEvent };

/**
 * An event that gets as far as this rule and fits it; undefined when there is none, because the rules before it
 * take all that it asks for. `places`: where it may come from; absent: from anywhere. With a channel: one that no rule
 * before it tells there either, so that this is the rule the channel gets it by.
 *
 * Exact, though only a few events are tried: no part of a rule asks for less. So where this rule leaves a part
 * open, an event that says nothing about it escapes the most rules, and where it names one, the least that fits
 * does; a success that saves no card escapes more of them than one that does. What is left to try are both kinds, both environments, and each amount at which an earlier rule ends.
 */
export function reachingExample(
  rules: readonly AlertRule[],
  index: number,
  places?: readonly RoutePlace[],
  channel?: string,
): Example | undefined {
  const before = rulesBefore(rules, index, channel);
  return examplesOf(rules, index, places).find((example) => !before.some((rule) => takes(rule, example)));
}

/** The rules before it that leave nothing to this one, the fewest that can be named simply: one where one does. */
export function rulesInTheWay(
  rules: readonly AlertRule[],
  index: number,
  places?: readonly RoutePlace[],
  channel?: string,
): string[] {
  const examples = examplesOf(rules, index, places);
  const before = rulesBefore(rules, index, channel);
  const whole = before.find((rule) => examples.every((example) => takes(rule, example)));
  const some = before.filter((rule) => examples.some((example) => takes(rule, example)));
  return (whole ? [whole] : some).map(({ name }) => name);
}

/** Those that leave it nothing of what they take; one with a mute does, as long as that holds, where it is the channel alone. */
function rulesBefore(rules: readonly AlertRule[], index: number, channel?: string): AlertRule[] {
  return rules
    .slice(0, index)
    .filter(
      ({ goesOn, channels, mutedUntilMs }) =>
        !goesOn || (channel !== undefined && mutedUntilMs === undefined && channels.includes(channel)),
    );
}

/**
 * What a rule says that never holds in this channel, because rules before it, which go on, tell it there first; nothing
 * where it does hold, or says no such thing.
 */
export function lostIn(
  rules: readonly AlertRule[],
  index: number,
  channel: string,
  places?: readonly RoutePlace[],
): string[] {
  const { mention, severity, digestAfter } = rules[index] ?? {};
  const says = [
    ...(mention === undefined ? [] : ['mention']),
    ...(severity === undefined ? [] : ['severity']),
    ...(digestAfter === undefined ? [] : ['digest_after']),
  ];
  // What reaches it nowhere is said of it otherwise.
  if (says.length === 0 || !reachingExample(rules, index, places)) return [];
  return reachingExample(rules, index, places, channel) ? [] : says;
}

function takes({ match }: AlertRule, { event, ...place }: Example): boolean {
  return fits(match, event, place);
}

function examplesOf(
  rules: readonly AlertRule[],
  index: number,
  places: readonly RoutePlace[] = anyPlaces(rules, index),
): Example[] {
  const match = rules[index]?.match ?? {};
  const kinds = match.event ? [match.event] : (['payment_failed', 'payment_success'] as const);
  const least = leastEvent(match, rules);
  return kinds.flatMap((kind) =>
    places
      .filter((place) => isOfPlace(match, place))
      .flatMap(({ environment, account }) =>
        amountsToTry(match.amount, rules.slice(0, index)).map((amount) => ({
          event: { ...least, ...amount, ...ofKind(kind) },
          environment,
          account,
        })),
      ),
  );
}

/** The account that it asks for, or one that no rule does. */
function anyPlaces(rules: readonly AlertRule[], index: number): RoutePlace[] {
  const account = rules[index]?.match.account ?? otherThan(rules.map((rule) => rule.match.account ?? ''));
  return (['live', 'sandbox'] as const).map((environment) => ({ environment, account }));
}

function ofKind(kind: RoutedKind): Pick<PaymentEvent, 'kind' | 'cardSaved'> {
  return kind === 'card_saved' ? { kind: 'payment_success', cardSaved: { kind: 'no_token' } } : { kind };
}

/** Says nothing but what the rule asks for. */
function leastEvent(match: RouteMatch, rules: readonly AlertRule[]): PaymentEvent {
  const { isSavedCardCharge, currency, customer, emailDomain, reasonPart } = match;
  return {
    kind: 'payment_failed',
    key: 'example',
    ...(isSavedCardCharge === undefined ? {} : { isSavedCardCharge }),
    ...(currency === undefined ? {} : { currency }),
    ...(customer === undefined ? {} : { customerId: customerOf(customer, rules) }),
    ...(emailDomain === undefined ? {} : { customerEmail: `a@${emailDomain}` }),
    ...(reasonPart === undefined ? {} : { reason: reasonPart }),
  };
}

/** Of a prefix: one that fits no longer prefix and no whole id, because it goes on with what no rule names. */
function customerOf({ kind, text }: CustomerPattern, rules: readonly AlertRule[]): string {
  if (kind === 'exact') return text;
  return `${text}${otherThan(rules.flatMap(({ match }) => Array.from(match.customer?.text ?? '')))}`;
}

/** A character that is none of these texts. */
function otherThan(texts: readonly string[]): string {
  const named = new Set(texts);
  const firstPrintable = 0x21;
  let code = firstPrintable;
  while (named.has(String.fromCodePoint(code))) code += 1;
  return String.fromCodePoint(code);
}

/** The least amount of the range that the rules before leave, if they leave any, is its own or one above an end of theirs. */
function amountsToTry(
  range: AmountRange | undefined,
  before: readonly AlertRule[],
): { amountMinor?: number }[] {
  if (!range) return [{}];
  const above = before.flatMap(({ match }) =>
    match.amount?.toMinor === undefined ? [] : [match.amount.toMinor + 1],
  );
  return [range.fromMinor ?? 0, ...above]
    .filter((minor) => isWithin(range, minor))
    .map((amountMinor) => ({ amountMinor }));
}
