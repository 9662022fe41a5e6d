import { alertRules } from '../config/alert-rules.ts';
import type { Config } from '../config/config.ts';
import { listed } from '../config/listed.ts';
import { isMuted, isOfPlace, type RoutePlan } from '../domain/alert-route.ts';
import { lostIn, ruleInTheWay } from '../domain/alert-route-reach.ts';
import type { Log } from '../log.ts';
import { readsField, type Webhooks } from './webhook-settings.ts';

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
 * which no look-up says either. Nothing is told while no delivery can be accepted at all.
 */
export function tellUnreadParts(plan: RoutePlan, webhooks: Webhooks, log: Log): void {
  if (!webhooks.scheme) return;
  const reads = (...fields: Parameters<typeof readsField>[1][]): boolean =>
    fields.some((field) => readsField(webhooks, field));
  for (const { name, match } of plan.rules.filter((rule) => isOfPlace(rule.match, plan))) {
    const { customer, isSavedCardCharge, event } = match;
    const asked = [
      ...(customer === undefined || reads('customerId') ? [] : ['customer_id']),
      ...(isSavedCardCharge === undefined || reads('isSavedCardCharge') ? [] : ['saved_card']),
      ...(event !== 'card_saved' || reads('isSavedCardCharge', 'savedCard') ? [] : ['card_saved']),
    ].join(' and ');
    if (asked === '') continue;
    const why = `it asks for ${asked}, which the signature does not cover and no look-up says`;
    const fix = `have WEBHOOK_SIGNED_TEMPLATE name it, if the sender signs it, or take it out of rule ${name}`;
    log('warn', `Rule ${name} can never fit here: ${why}`, { fix });
  }
}
