import type { Config } from '../../config/config.ts';
import { accountNamed, allAccounts, sayWhich } from './account-named.ts';
import { runAudit } from './audit.ts';
import type { CommandEnd, Out } from './command-end.ts';
import { runExplainDelivery } from './explain-delivery.ts';
import { runForgetCards } from './forget-cards.ts';
import type { Outside } from '../outside.ts';
import { runRedrive } from './redrive.ts';
import { runRehearse } from './rehearse.ts';
import { runRevokeToken } from './revoke-token.ts';

type Command = (outside: Outside, words: readonly string[], out: Out) => Promise<CommandEnd>;

/**
 * `each`: without --account it is done for every account, one after the other. `isShared`: it is about what all of
 * them have together, and reads its words itself.
 */
const commands: ReadonlyMap<string, { run: Command; each: boolean; isShared?: true }> = new Map([
  ['audit', { run: runAudit, each: false, isShared: true }],
  ['explain-delivery', { run: runExplainDelivery, each: false }],
  ['forget-cards', { run: runForgetCards, each: true }],
  ['redrive', { run: runRedrive, each: true }],
  ['rehearse', { run: runRehearse, each: true }],
  ['revoke-token', { run: runRevokeToken, each: false }],
]);

/**
 * One of the `operatorCommands`: what it does instead of starting the bot; `--account NAME` says for which of several
 * merchant accounts. What is too long to be held goes to `out` piece by piece. Never throws for what is outside.
 */
export async function runCommand(
  name: string,
  words: readonly string[],
  outside: Outside,
  out: Out = noOutput,
): Promise<CommandEnd> {
  const command = commands.get(name);
  if (!command) throw new Error(`no operator's command of the name ${name}`);
  if (command.isShared) return await command.run(outside, words, out);
  const { configs, rest, problem } = accountsMeant(words, outside.config);
  if (problem !== undefined) return { exitCode: 2, words: problem };
  const [config, ...more] = configs;
  if (config && more.length === 0) return await command.run({ ...outside, config }, rest, out);
  if (!command.each) return { exitCode: 2, words: sayWhich(configs) };
  const ends: CommandEnd[] = [];
  for (const one of configs) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each opens the store for itself
    const end = await command.run({ ...outside, config: one }, rest, out);
    ends.push({ ...end, words: `${one.merchant?.name ?? ''}: ${end.words}` });
  }
  const worst = ends.reduce<CommandEnd['exitCode']>(
    (code, end) => (end.exitCode > code ? end.exitCode : code),
    0,
  );
  return { exitCode: worst, words: ends.map((end) => end.words).join('\n') };
}

function noOutput(): Promise<void> {
  return Promise.resolve();
}

type Meant = { configs: readonly Config[]; rest: readonly string[]; problem?: string };

/** All of them, when none is named. */
function accountsMeant(words: readonly string[], config: Config): Meant {
  const all = allAccounts(config);
  const at = words.indexOf('--account');
  if (at < 0) return { configs: all, rest: words };
  const named = accountNamed(words[at + 1], all);
  if (!named.ok) return { configs: [], rest: [], problem: named.problem };
  return { configs: [named.value], rest: words.filter((_, index) => index !== at && index !== at + 1) };
}

export const operatorCommands: readonly string[] = [...commands.keys()];
