import { routesCheck } from '../config/alert-rules.ts';
import type { Config } from '../config/config.ts';
import { readPolicy, type PolicyResult } from '../config/read-policy.ts';
import type { RoutePlan } from '../domain/alert-route.ts';
import { rehearsedLine, rehearsedWords, type Rehearsal } from '../domain/rehearsal.ts';
import { createEventLog } from '../operations/event-log.ts';
import { rehearse } from '../operations/rehearse.ts';
import { readRoutes } from './alert-routes.ts';
import { stormTerms } from './storm-terms.ts';
import { reasonOf, type CommandEnd } from './command-end.ts';
import type { Outside } from './outside.ts';
import { withKept } from './with-kept.ts';

/**
 * `npm run rehearse -- [--policy payops.new.yml]`: what the rules of the policy file, or of another one that is not
 * deployed yet, would have posted of the events of the last 7 days. Posts and changes nothing. Never throws.
 */
export async function runRehearse(outside: Outside, words: readonly string[]): Promise<CommandEnd> {
  const asked = readWords(words, outside.config.payopsFile);
  if (asked === undefined) {
    return {
      exitCode: 2,
      words:
        'Say nothing, for the rules that are in force, or name a file: npm run rehearse -- --policy payops.new.yml',
    };
  }
  const read = readCandidate(outside.config, asked);
  if (read.kind === 'refused') return { exitCode: 1, words: read.problems.join('\n') };
  return await withKept(
    outside,
    async ({ store, sealer }) => {
      const eventLog = createEventLog({ store, sealer, now: outside.now, log: outside.log });
      const plan = readRoutes({ ...outside.config, policy: read.policy });
      return {
        exitCode: 0,
        words: told(plan, await rehearse(eventLog, plan, stormTerms(outside.config), outside.now())),
      };
    },
    (error) => ({ exitCode: 1, words: `The rules could not be rehearsed. ${reasonOf(error)}` }),
  );
}

function readWords(words: readonly string[], usual: string): string | undefined {
  const [option, path, ...more] = words;
  if (option === undefined) return usual;
  return option === '--policy' && more.length === 0 ? path : undefined;
}

/** As strict as a start of the bot would be. */
function readCandidate(config: Config, payopsFile: string): PolicyResult {
  const read = readPolicy(payopsFile);
  if (read.kind === 'refused') return read;
  const problems = [...routesCheck.judge({ ...config, payopsFile, policy: read.policy })];
  return problems.length > 0 ? { kind: 'refused', problems } : read;
}

function told(plan: RoutePlan, rehearsal: Rehearsal): string {
  const { events, sinceMs, unsure } = rehearsal;
  if (sinceMs === undefined) {
    return 'No event of the last 7 days is on record, so nothing can be said. Run this with the very settings of the bot.';
  }
  const since = new Date(sinceMs).toISOString().slice(0, 16).replace('T', ' ');
  const lines = placesOf(plan).map(({ name, channel, rule }) => {
    return `  ${name} → ${channel}: ${rehearsedWords(rehearsedLine(rehearsal, channel, rule))}`;
  });
  return [
    `Of the ${events} events of the last 7 days (the first ${since} UTC) these rules would have posted, mutes left out:`,
    ...lines,
    ...(unsure > 0
      ? [
          `${unsure} of the events nobody looked up, which these rules would have: they are counted by what they say.`,
        ]
      : []),
  ].join('\n');
}

function placesOf({
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
