import {
  lostIn,
  ruleInTheWay,
  isMuted,
  isOfPlace,
  type AlertRule,
  type RouteMatch,
  type RoutePlan,
} from '../domain/alert-route.ts';
import { listed } from '../domain/wording.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { Log } from '../log.ts';
import { policyCheck, type Config } from './config.ts';
import type { Policy } from './policy.ts';

type Route = NonNullable<Policy['routes']>[number];

/** The rules of the policy file in domain words, in their order; none when it has no `routes`. */
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
      mutedUntilMs: route.mute_until,
      digestAfter: route.digest_after,
      goesOn: route.continue,
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

/** What cannot hold between rules: two of one name, and one that can never be reached. */
export const routesCheck = policyCheck(['routes'], ['payopsFile'], ({ policy, payopsFile }) => {
  const rules = alertRules(policy);
  return rules.flatMap((_, index) => [
    ...twinProblems(rules, index, payopsFile),
    ...reachProblems(rules, index, payopsFile),
  ]);
});

function twinProblems(rules: readonly AlertRule[], index: number, file: string): string[] {
  const { name } = rules[index] ?? {};
  const isFirst = rules.findIndex((rule) => rule.name === name) === index;
  return isFirst ? [] : [`${file}: routes.${index}.name: a rule before it is called ${name} too.`];
}

function reachProblems(rules: readonly AlertRule[], index: number, file: string): string[] {
  const first = ruleInTheWay(rules, index);
  if (!first) return [];
  const why = `${first.name} before it takes all that it asks for`;
  const name = rules[index]?.name ?? '';
  return [
    `${file}: routes.${index} (${name}) can never fit: ${why}. Move it up, or write continue: true there.`,
  ];
}

/** Where events are told: the rules of the policy file, and behind them its `channels`. */
export function readRoutes({
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

/** No mute is forgotten: what is silent now, and what only looks so, stands in the log of every start. */
export function tellMutes({ rules }: RoutePlan, nowMs: number, log: Log): void {
  for (const rule of rules) {
    if (rule.mutedUntilMs === undefined) continue;
    const end = new Date(rule.mutedUntilMs).toISOString();
    if (isMuted(rule, nowMs)) log('info', `Rule ${rule.name} tells nothing until ${end}`);
    else {
      const fix = `take mute_until out of rule ${rule.name}`;
      log('warn', `The mute of rule ${rule.name} ended at ${end}`, { fix });
    }
  }
}

/**
 * A rule for a place where this bot is not, or one that the rules before it leave nothing to where it is, takes nothing
 * here. One file may serve several bots, so it is no refusal.
 */
export function tellRulesElsewhere(plans: readonly RoutePlan[], log: Log): void {
  const rules = plans[0]?.rules ?? [];
  for (const [index, { name, match }] of rules.entries()) {
    if (plans.some((plan) => isOfPlace(match, plan))) {
      tellTakenHere(plans, index, log);
      continue;
    }
    const asked = [match.account, match.environment].filter((part) => part !== undefined).join(' in ');
    const fix = `correct account or environment of rule ${name}, unless it is for another bot that reads this file`;
    log('warn', `Rule ${name} can never fit here: it asks for ${asked}, and this bot has ${namesOf(plans)}`, {
      fix,
    });
  }
}

/** Where the rule takes nothing because one before it leaves nothing to it. */
function tellTakenHere(plans: readonly RoutePlan[], index: number, log: Log): void {
  const rules = plans[0]?.rules ?? [];
  const { name = '', channels = [] } = rules[index] ?? {};
  const first = ruleInTheWay(rules, index, plans);
  if (!first) {
    for (const channel of channels) tellLost(plans, index, channel, log);
    return;
  }
  const why = `${first.name} before it takes all that it asks for at ${namesOf(plans)}`;
  const fix = `move rule ${name} up, or write continue: true there, unless it is for another bot that reads this file`;
  log('warn', `Rule ${name} can never fit here: ${why}`, { fix });
}

/** Each channel is told once, by the first rule that names it: the mention of one behind it would be missed unnoticed. */
function tellLost(plans: readonly RoutePlan[], index: number, channel: string, log: Log): void {
  const rules = plans[0]?.rules ?? [];
  const lost = lostIn(rules, index, channel, plans);
  if (!lost) return;
  const { says, to } = lost;
  const name = rules[index]?.name ?? '';
  const what = `The ${listed(says, 'and')} of rule ${name} never ${says.length === 1 ? 'holds' : 'hold'} in ${channel}`;
  const why = `${to} before it tells that channel all that it asks for`;
  log('warn', `${what}: ${why}`, { channel, fix: `move rule ${name} up, before ${to}` });
}

function namesOf(plans: readonly RoutePlan[]): string {
  return plans.map(({ environment, account }) => `${account} (${environment})`).join(', ');
}

/**
 * A rule that asks for a part of the event which the bot does not read, because the signature does not cover it, and
 * which no look-up says either.
 */
export function tellUnreadParts(
  plan: RoutePlan,
  readsField: (field: 'customerId' | 'isSavedCardCharge' | 'savedCard') => boolean,
  log: Log,
): void {
  for (const { name, match } of plan.rules.filter((rule) => isOfPlace(rule.match, plan))) {
    const { customer, isSavedCardCharge, event } = match;
    const asked = [
      ...(customer === undefined || readsField('customerId') ? [] : ['customer_id']),
      ...(isSavedCardCharge === undefined || readsField('isSavedCardCharge') ? [] : ['saved_card']),
      ...(event !== 'card_saved' || readsField('isSavedCardCharge') || readsField('savedCard')
        ? []
        : ['card_saved']),
    ].join(' and ');
    if (asked === '') continue;
    const why = `it asks for ${asked}, which the signature does not cover and no look-up says`;
    const fix = `have WEBHOOK_SIGNED_TEMPLATE name it, if the sender signs it, or take it out of rule ${name}`;
    log('warn', `Rule ${name} can never fit here: ${why}`, { fix });
  }
}
