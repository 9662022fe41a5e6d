import { permissions } from '../features/registry.ts';
import type { Config, Runtime } from '../config/config.ts';
import { policyChecks } from '../config/contradictions.ts';
import { permissionCheck } from '../config/policy-rules.ts';
import { readPolicy, type PolicyResult } from '../config/read-policy.ts';
import type { RoutePlan } from '../domain/alert.ts';
import { createEventLog, type EventLog, lookedBackMs } from '../features/alerts/event-log.ts';
import { destinationsOf, needsLookUp } from '../features/alerts/route-event.ts';
import { counted, parsed } from '../domain/wording.ts';
import { routePlanOf } from '../config/alert-rules.ts';
import { command, type CommandEnd, withStorage } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';
import { utcTime } from '../slack/kit/text.ts';
import { hourMs } from '../domain/span.ts';

export const rehearseCommand = command({
  summary: 'Say what routes would have posted in the last 7 days',
  usage: ['npm run rehearse -- [--policy payops.new.yml] [--account NAME]'],
  more: 'Without a file: the rules that are in force. Posts and changes nothing.',
  scope: 'each',
  options: { policy: { type: 'string' } },
  prepare: ({ values: { policy } }) =>
    parsed({ run: (runtime) => rehearseOn(runtime, policy ?? runtime.config.payopsFile) }),
});

async function rehearseOn(runtime: Runtime, path: string): Promise<CommandEnd> {
  const read = readCandidate(runtime.config, path);
  if (read.kind === 'refused') return { exitCode: 1, words: read.problems.join('\n') };
  return await withStorage(
    runtime,
    async ({ store, sealer }) => {
      const eventLog = createEventLog({ store, sealer, log: runtime.log });
      const plan = routePlanOf({ ...runtime.config, policy: read.policy });
      return {
        exitCode: 0,
        words: resultWords(plan, await rehearse(eventLog, plan, runtime.now())),
      };
    },
    (error) => `The rules could not be rehearsed. ${reasonOf(error)}`,
    { needsKeys: true },
  );
}

/** Checks the candidate as the bot does at start, so that a file which can be rehearsed can also be deployed. */
function readCandidate(config: Config, payopsFile: string): PolicyResult {
  const read = readPolicy(payopsFile, 'check its name after --policy');
  if (read.kind === 'refused') return read;
  const candidate = { ...config, payopsFile, policy: read.policy };
  const checks = [...policyChecks, permissionCheck(permissions)];
  const problems = checks.flatMap((check) => check(candidate) || []);
  return problems.length > 0 ? { kind: 'refused', problems } : read;
}

type Rehearsal = {
  events: number;
  sinceMs: number | undefined;
  /**
   * Events that the plan routes by their look-up, but of which no look-up is on record. The count routes them by the
   * event alone.
   */
  unsure: number;
  /** By channel and rule, see `keyOf`. */
  counts: ReadonlyMap<string, { alerts: number; worstHour: number }>;
};

/**
 * Counts what the plan would have posted in the last 7 days, with the functions that route real events. Throws
 * StoreUnavailable.
 */
export async function rehearse(
  eventLog: Pick<EventLog, 'since'>,
  plan: RoutePlan,
  nowMs: number,
): Promise<Rehearsal> {
  const counts = new Map<string, { alerts: number; worstHour: number }>();
  const lastHour = new Map<string, { hour: number; alerts: number }>();
  let [events, unsure] = [0, 0];
  let sinceMs: number | undefined;
  for await (const page of eventLog.since(nowMs - lookedBackMs)) {
    for (const { event, receivedAtMs, lookup, byCharge } of page) {
      events += 1;
      sinceMs ??= receivedAtMs;
      // Shown by its charge's message or in an alert's thread, not by the rules.
      if (byCharge) continue;
      const isLookedUp = lookup !== undefined && lookup !== 'unchecked';
      if (!isLookedUp && needsLookUp(plan, event)) unsure += 1;
      const hour = Math.floor(receivedAtMs / hourMs);
      for (const { channel, rule } of destinationsOf(plan, event)) {
        const key = keyOf(channel, rule?.name);
        const before = lastHour.get(key);
        const inHour = before?.hour === hour ? before.alerts + 1 : 1;
        lastHour.set(key, { hour, alerts: inHour });
        const { alerts, worstHour } = counts.get(key) ?? { alerts: 0, worstHour: 0 };
        counts.set(key, { alerts: alerts + 1, worstHour: Math.max(worstHour, inHour) });
      }
    }
  }
  return { events, sinceMs, unsure, counts };
}

function keyOf(channel: string, rule = ''): string {
  return `${channel} ${rule}`;
}

function resultWords(plan: RoutePlan, { events, sinceMs, unsure, counts }: Rehearsal): string {
  if (sinceMs === undefined) {
    return 'No event of the last 7 days is on record, so nothing can be said.';
  }
  const lines = targetsOf(plan).map(({ name, channel, rule }) => {
    const count = counts.get(keyOf(channel, rule));
    const words = count ? `${counted(count.alerts, 'alert')}, worst hour ${count.worstHour}` : 'no alerts';
    return `  ${name} → ${channel}: ${words}`;
  });
  return [
    `Of the ${events === 1 ? 'one event' : `${events} events`} of the last 7 days (the first ${utcTime(sinceMs)}) these rules would have told, mutes and digests left out:`,
    ...lines,
    ...(unsure > 0 ? [unsureWords(unsure)] : []),
  ].join('\n');
}

function unsureWords(unsure: number): string {
  return unsure === 1
    ? 'One of them was never looked up, and these rules route by the look-up: it is counted by its event alone.'
    : `${unsure} of them were never looked up, and these rules route by the look-up: they are counted by their events alone.`;
}

/** Each rule and channel that may get posts, in the plan's order. */
function targetsOf({
  rules,
  failures,
  successes,
}: RoutePlan): { name: string; channel: string; rule?: string }[] {
  return [
    ...rules.flatMap(({ name, channels }) => channels.map((channel) => ({ name, channel, rule: name }))),
    { name: 'channels.alerts', channel: failures },
    ...(successes === undefined || successes === failures
      ? []
      : [{ name: 'channels.successes', channel: successes }]),
  ];
}
