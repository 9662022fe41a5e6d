import { ruleInTheWay } from '../domain/alert-route-reach.ts';
import type { AlertRule, RouteMatch } from '../domain/alert-route.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import { policyCheck } from './config.ts';
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
