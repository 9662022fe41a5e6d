import { alertRules } from '../config/alert-rules.ts';
import type { Config } from '../config/config.ts';
import { isMuted, isOfPlace, type RoutePlan } from '../domain/alert-route.ts';
import type { Log } from '../log.ts';

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

/** A rule for a place where this bot is not takes nothing here. One file may serve several bots, so it is no refusal. */
export function tellRulesElsewhere(plans: readonly RoutePlan[], log: Log): void {
  const places = plans.map(({ environment, account }) => `${account} (${environment})`).join(', ');
  for (const { name, match } of plans[0]?.rules ?? []) {
    if (plans.some((plan) => isOfPlace(match, plan))) continue;
    const asked = [match.account, match.environment].filter((part) => part !== undefined).join(' in ');
    const fix = `correct account or environment of rule ${name}, unless it is for another bot that reads this file`;
    log('warn', `Rule ${name} can never fit here: it asks for ${asked}, and this bot has ${places}`, { fix });
  }
}
