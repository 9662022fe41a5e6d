import type { Config } from '../config/config.ts';
import { accountNamed, allAccounts, sayWhich } from './account-named.ts';
import { auditWithoutSettings, runAudit } from './audit.ts';
import type { CommandEnd, Out } from './command-end.ts';
import { misreadDoctor, runDoctor } from './doctor.ts';
import { misreadExplainDelivery, runExplainDelivery } from './explain-delivery.ts';
import { misreadForgetCards, runForgetCards } from './forget-cards.ts';
import type { Outside } from '../app/outside.ts';
import { misreadMoveStore, runMoveStore } from './move-store.ts';
import { misreadRedrive, runRedrive } from './redrive.ts';
import { misreadRehearse, runRehearse } from './rehearse.ts';
import { misreadReseal, runReseal } from './reseal.ts';
import { misreadRevokeToken, runRevokeToken } from './revoke-token.ts';

type Command = {
  run: (outside: Outside, words: readonly string[], out: Out) => Promise<CommandEnd>;
  /** Its end where it needs no settings, as words that are not understood do not. */
  early: (words: readonly string[]) => CommandEnd | undefined | Promise<CommandEnd | undefined>;
  /** Without --account it is done for every account, one after the other. */
  each: boolean;
  /** It is about what all accounts have together, and reads its words itself. */
  isShared?: true;
};

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['audit', { run: runAudit, early: auditWithoutSettings, each: false, isShared: true }],
  ['doctor', { run: runDoctor, early: misreadDoctor, each: false, isShared: true }],
  ['explain-delivery', { run: runExplainDelivery, early: misreadExplainDelivery, each: false }],
  ['forget-cards', { run: runForgetCards, early: misreadForgetCards, each: true }],
  ['move-store', { run: runMoveStore, early: misreadMoveStore, each: false, isShared: true }],
  ['redrive', { run: runRedrive, early: misreadRedrive, each: true }],
  ['rehearse', { run: runRehearse, early: misreadRehearse, each: true }],
  ['reseal', { run: runReseal, early: misreadReseal, each: false, isShared: true }],
  ['revoke-token', { run: runRevokeToken, early: misreadRevokeToken, each: false }],
]);

/**
 * The end of a command that needs no settings, undefined for any other: whoever mistypes one is told how it is typed,
 * not which settings are missing. Never throws for what is outside.
 */
export async function endWithoutSettings(
  name: string,
  words: readonly string[],
): Promise<CommandEnd | undefined> {
  const command = commands.get(name);
  return await command?.early(command.isShared ? words : wordsBeside(words));
}

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
  return { configs: [named.value], rest: wordsBeside(words) };
}

/** Without the account that they name. */
function wordsBeside(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--account');
  return at < 0 ? words : words.toSpliced(at, 2);
}

export const operatorCommands: readonly string[] = [...commands.keys()];
