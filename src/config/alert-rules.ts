import {
  type RouteMatch,
  type AlertRule,
  matchesAccount,
  isUnsetOrEqual,
  type RoutePlan,
} from '../domain/alert.ts';
import { listed } from '../domain/wording.ts';
import { withoutUndefined } from '../domain/json.ts';
import type { Log } from '../log.ts';
import type { Config } from './config.ts';
import type { Policy } from './policy.ts';

type Route = NonNullable<Policy['routes']>[number];
type PolicyFile = Pick<Config, 'policy' | 'payopsFile'>;

/** The policy file's `routes`, in order. */
export function alertRules({ routes = [] }: Pick<Policy, 'routes'>): AlertRule[] {
  return routes.map((route) => {
    const { quiet_hours: quiet } = route;
    return withoutUndefined({
      name: route.name,
      match: matchOf(route.when),
      channels: route.to,
      mention: route.mention,
      severity: route.severity,
      quietHours: quiet && { fromMinute: quiet.from, toMinute: quiet.to, timeZone: quiet.tz },
      escalate: route.escalate,
      digestAfter: route.digest_after,
      continues: route.continue,
    });
  });
}

function matchOf(when: Route['when']): RouteMatch {
  const { amount_from: fromMinor, amount_to: toMinor } = when;
  const isRange = fromMinor !== undefined || toMinor !== undefined;
  return withoutUndefined({
    event: when.event === 'any' ? undefined : when.event,
    environment: when.environment,
    account: when.account,
    isSavedCardCharge: when.saved_card,
    currency: when.currency,
    amount: isRange ? withoutUndefined({ fromMinor, toMinor }) : undefined,
    customer: when.customer_id,
    emailDomain: when.email_domain,
    reasonPart: when.reason,
  });
}

/** Reports a rule whose name is taken, or that never matches because an earlier rule takes all its events. */
export function routesCheck({ policy, payopsFile }: PolicyFile): string[] {
  const rules = alertRules(policy);
  return rules.flatMap(({ name }, index) => {
    const at = `${payopsFile}: routes.${index}`;
    const isNameTaken = rules.findIndex((rule) => rule.name === name) < index;
    const earlier = shadowingRule(rules, index);
    return [
      ...(isNameTaken ? [`${at}.name: a rule before it is called ${name} too.`] : []),
      ...(earlier
        ? [
            `${at} (${name}) can never fit: ${earlier.name} before it takes all that it asks for. Move it up, or write continue: true there.`,
          ]
        : []),
    ];
  });
}

/** The plan for one account's events: the policy file's rules, then its `channels`. */
export function routePlanOf({
  paymentsEnvironment,
  paymentsAccountName,
  merchant,
  policy,
}: Pick<Config, 'policy' | 'paymentsEnvironment' | 'paymentsAccountName' | 'merchant'>): RoutePlan {
  return {
    rules: alertRules(policy),
    environment: paymentsEnvironment,
    account: merchant?.name ?? paymentsAccountName,
    failures: policy.channels.alerts,
    successes: policy.channels.successes,
  };
}

/** Warns of rules that no account of this bot can match. Not an error: several bots may share one policy file. */
export function warnOfForeignRules(plans: readonly RoutePlan[], log: Log): void {
  const here = plans.map(({ environment, account }) => `${account} (${environment})`).join(', ');
  for (const { name, match } of plans[0]?.rules ?? []) {
    if (plans.some((plan) => matchesAccount(match, plan))) continue;
    const wanted = [match.account, match.environment].filter((part) => part !== undefined).join(' in ');
    const fix = `correct account or environment of rule ${name}, unless it is for another bot that reads this file`;
    log('warn', `Rule ${name} can never fit here: it asks for ${wanted}, and this bot has ${here}`, {
      fix,
    });
  }
}

/**
 * Warns of rules that can never match because they test a field that the signature doesn't cover: the bot doesn't read
 * it from the event, and no look-up supplies it.
 */
export function warnOfUnreadFields(
  plan: RoutePlan,
  readsField: (field: 'customerId' | 'isSavedCardCharge' | 'savedCard') => boolean,
  log: Log,
): void {
  for (const { name, match } of plan.rules.filter((rule) => matchesAccount(rule.match, plan))) {
    const { customer, isSavedCardCharge, event } = match;
    const unread = [
      ...(customer === undefined || readsField('customerId') ? [] : ['customer_id']),
      ...(isSavedCardCharge === undefined || readsField('isSavedCardCharge') ? [] : ['saved_card']),
      ...(event !== 'card_saved' || readsField('isSavedCardCharge') || readsField('savedCard')
        ? []
        : ['card_saved']),
    ].join(' and ');
    if (unread === '') continue;
    const why = `it asks for ${unread}, which the signature does not cover and no look-up says`;
    const fix = `have WEBHOOK_SIGNED_TEMPLATE name it, if the sender signs it, or take it out of rule ${name}`;
    log('warn', `Rule ${name} can never fit here: ${why}`, { fix });
  }
}

/**
 * The first earlier rule that leaves this rule without effect, because it takes every event that this rule matches, or
 * (with `channel`) posts all of them in that channel first. Doesn't find several rules that leave it without effect only together.
 */
export function shadowingRule(
  rules: readonly AlertRule[],
  index: number,
  channel?: string,
): AlertRule | undefined {
  const rule = rules[index];
  return rule && rules.slice(0, index).find((before) => shadows(before, rule.match, channel));
}

/** After a rule with `continues` later rules get the event, too, but don't post it in that rule's channels again. */
function shadows(before: AlertRule, narrow: RouteMatch, channel: string | undefined): boolean {
  const { match, continues, channels } = before;
  const postsThere = channel !== undefined && channels.includes(channel);
  return (!continues || postsThere) && covers(match, narrow);
}

/** Whether every event that matches `narrow` also matches `wide`. */
function covers(wide: RouteMatch, narrow: RouteMatch): boolean {
  const { event, amount, customer, reasonPart } = wide;
  // A `card_saved` event is a `payment_success`, too.
  const isSavedSuccess = event === 'payment_success' && narrow.event === 'card_saved';
  return (
    (isSavedSuccess || isUnsetOrEqual(event, narrow.event)) &&
    isUnsetOrEqual(wide.environment, narrow.environment) &&
    isUnsetOrEqual(wide.account, narrow.account) &&
    isUnsetOrEqual(wide.isSavedCardCharge, narrow.isSavedCardCharge) &&
    isUnsetOrEqual(wide.currency, narrow.currency) &&
    isUnsetOrEqual(wide.emailDomain, narrow.emailDomain) &&
    (amount === undefined || coversRange(amount, narrow.amount)) &&
    (customer === undefined || coversCustomer(customer, narrow.customer)) &&
    (reasonPart === undefined || narrow.reasonPart?.includes(reasonPart) === true)
  );
}

function coversRange(
  { fromMinor = 0, toMinor = Infinity }: NonNullable<RouteMatch['amount']>,
  narrow: RouteMatch['amount'],
): boolean {
  return (
    narrow !== undefined && fromMinor <= (narrow.fromMinor ?? 0) && toMinor >= (narrow.toMinor ?? Infinity)
  );
}

function coversCustomer(wide: NonNullable<RouteMatch['customer']>, narrow: RouteMatch['customer']): boolean {
  if (!narrow) return false;
  if (wide.kind === 'prefix') return narrow.text.startsWith(wide.text);
  return narrow.kind === 'exact' && narrow.text === wide.text;
}

/**
 * Warns of a rule that has no effect in a channel because an earlier rule with `continue` posts there first. Each event
 * is posted once per channel, so the later rule's mention would be lost unnoticed.
 */
export function routesCaution({ policy, payopsFile }: PolicyFile): string[] {
  const rules = alertRules(policy);
  return rules.flatMap(({ name, channels, mention, severity, escalate, digestAfter }, index) => {
    const parts = Object.entries({ mention, severity, escalate, digest_after: digestAfter }).flatMap(
      ([key, value]) => (value === undefined ? [] : [key]),
    );
    return channels.flatMap((channel) => {
      const first = parts.length === 0 ? undefined : shadowingRule(rules, index, channel);
      if (!first) return [];
      const what = `the ${listed(parts, 'and')} of rule ${name} never ${parts.length === 1 ? 'holds' : 'hold'} in ${channel}`;
      return `${payopsFile}: ${what}: ${first.name} before it tells that channel all that it asks for. Move ${name} up, before ${first.name}.`;
    });
  });
}
