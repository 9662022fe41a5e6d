// Whether a rule can be reached: for the check of payops.yml, which refuses one that a rule before it leaves nothing to.

import { isOfPlace, type AlertRule, type RouteMatch, type RoutePlace } from './alert-route.ts';

/**
 * The first rule before it that takes all that it asks for; with a channel: or that tells it to that channel first. Two that
 * do so only together are not found. `places`: where events come from; absent: from anywhere.
 */
export function ruleInTheWay(
  rules: readonly AlertRule[],
  index: number,
  places?: readonly RoutePlace[],
  channel?: string,
): AlertRule | undefined {
  const rule = rules[index];
  const here = rule && places?.filter((place) => isOfPlace(rule.match, place));
  return rule && rules.slice(0, index).find((before) => leavesNothing(before, rule.match, { here, channel }));
}

/** What goes on leaves all but its channel, and that too while it is muted. */
function leavesNothing(
  { match, goesOn, channels, mutedUntilMs }: AlertRule,
  narrow: RouteMatch,
  { here, channel }: { here: readonly RoutePlace[] | undefined; channel: string | undefined },
): boolean {
  const tellsIt = channel !== undefined && mutedUntilMs === undefined && channels.includes(channel);
  const isEverywhere = here ? here.every((place) => isOfPlace(match, place)) : coversPlace(match, narrow);
  return (!goesOn || tellsIt) && isEverywhere && covers(match, narrow);
}

function coversPlace({ environment, account }: RouteMatch, narrow: RouteMatch): boolean {
  return isSameOrAny(environment, narrow.environment) && isSameOrAny(account, narrow.account);
}

/** Whether all that fits the second fits the first, wherever it is from. */
function covers(wide: RouteMatch, narrow: RouteMatch): boolean {
  const { event, amount, customer, reasonPart } = wide;
  const alsoSaves = event === 'payment_success' && narrow.event === 'card_saved';
  return (
    (alsoSaves || isSameOrAny(event, narrow.event)) &&
    isSameOrAny(wide.isSavedCardCharge, narrow.isSavedCardCharge) &&
    isSameOrAny(wide.currency, narrow.currency) &&
    isSameOrAny(wide.emailDomain, narrow.emailDomain) &&
    (amount === undefined || isWithin(amount, narrow.amount)) &&
    (customer === undefined || isOne(customer, narrow.customer)) &&
    (reasonPart === undefined || narrow.reasonPart?.includes(reasonPart) === true)
  );
}

function isSameOrAny<T>(wide: T | undefined, narrow: T | undefined): boolean {
  return wide === undefined || wide === narrow;
}

function isWithin(
  { fromMinor = 0, toMinor = Infinity }: NonNullable<RouteMatch['amount']>,
  narrow: RouteMatch['amount'],
): boolean {
  return (
    narrow !== undefined && fromMinor <= (narrow.fromMinor ?? 0) && toMinor >= (narrow.toMinor ?? Infinity)
  );
}

function isOne(wide: NonNullable<RouteMatch['customer']>, narrow: RouteMatch['customer']): boolean {
  if (!narrow) return false;
  if (wide.kind === 'prefix') return narrow.text.startsWith(wide.text);
  return narrow.kind === 'exact' && narrow.text === wide.text;
}

/**
 * What a rule says that never holds in this channel, and the rule before it, which goes on and tells it there first;
 * undefined where it does hold, or says no such thing.
 */
export function lostIn(
  rules: readonly AlertRule[],
  index: number,
  channel: string,
  places?: readonly RoutePlace[],
): { says: string[]; to: string } | undefined {
  const { mention, severity, digestAfter } = rules[index] ?? {};
  const says = [
    ...(mention === undefined ? [] : ['mention']),
    ...(severity === undefined ? [] : ['severity']),
    ...(digestAfter === undefined ? [] : ['digest_after']),
  ];
  // What reaches it nowhere is said of it otherwise.
  if (says.length === 0 || ruleInTheWay(rules, index, places)) return undefined;
  const first = ruleInTheWay(rules, index, places, channel);
  return first && { says, to: first.name };
}
