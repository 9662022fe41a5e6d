import type { Config, Outside } from '../config/config.ts';
import { parsed, type Parsed } from '../domain/parsed.ts';
import {
  type CommandEnd,
  type OperatorCommand,
  type Out,
  type Prepared,
  accountNamed,
  allAccounts,
  sayWhich,
} from './command.ts';
import { auditCommand } from './audit.ts';
import { doctorCommand } from './doctor.ts';
import { exitCodes } from './exit-codes.ts';
import { explainDeliveryCommand } from './explain-delivery.ts';
import { forgetCardsCommand } from './forget-cards.ts';
import { moveStoreCommand } from './move-store.ts';
import { redriveCommand } from './redrive.ts';
import { rehearseCommand } from './rehearse.ts';
import { resealCommand } from './reseal.ts';
import { revokeTokenCommand } from './revoke-token.ts';

export const operatorCommands: Readonly<Record<string, OperatorCommand>> = {
  audit: auditCommand,
  doctor: doctorCommand,
  'explain-delivery': explainDeliveryCommand,
  'forget-cards': forgetCardsCommand,
  'move-store': moveStoreCommand,
  redrive: redriveCommand,
  rehearse: rehearseCommand,
  reseal: resealCommand,
  'revoke-token': revokeTokenCommand,
};

/**
 * The end of a command that needs no settings, undefined for any other: whoever mistypes one is told how it is typed,
 * not which settings are missing. Never throws for what is outside.
 */
export async function endWithoutSettings(
  name: string,
  words: readonly string[],
): Promise<CommandEnd | undefined> {
  const prepared = prepare(commandOf(name), words);
  if (!prepared.ok) return { exitCode: exitCodes.usage, words: prepared.problem };
  return 'alone' in prepared.value ? await prepared.value.alone() : undefined;
}

/**
 * What the command does instead of starting the bot; `--account NAME` says for which of several merchant accounts. What
 * is too long to be held goes to `out` piece by piece. Never throws for what is outside.
 */
export async function runCommand(
  name: string,
  words: readonly string[],
  outside: Outside,
  out: Out = () => Promise.resolve(),
): Promise<CommandEnd> {
  const command = commandOf(name);
  const prepared = prepare(command, words);
  if (!prepared.ok) return { exitCode: exitCodes.usage, words: prepared.problem };
  if ('alone' in prepared.value) return await prepared.value.alone();
  const { run } = prepared.value;
  if (command.scope === 'shared') return await run(outside, out);
  const meant = accountsMeant(words, outside.config);
  if (!meant.ok) return { exitCode: exitCodes.usage, words: meant.problem };
  const [config, ...more] = meant.value;
  if (config && more.length === 0) return await run({ ...outside, config }, out);
  if (command.scope === 'one') return { exitCode: exitCodes.usage, words: sayWhich(meant.value) };
  const ends: CommandEnd[] = [];
  for (const one of meant.value) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each opens the store for itself
    const end = await run({ ...outside, config: one }, out);
    ends.push({ ...end, words: `${one.merchant?.name ?? ''}: ${end.words}` });
  }
  const worst = ends.reduce<CommandEnd['exitCode']>(
    (code, end) => (end.exitCode > code ? end.exitCode : code),
    0,
  );
  return { exitCode: worst, words: ends.map((end) => end.words).join('\n') };
}

function commandOf(name: string): OperatorCommand {
  const command = operatorCommands[name];
  if (!command) throw new Error(`no operator's command of the name ${name}`);
  return command;
}

function prepare({ scope, prepare: read }: OperatorCommand, words: readonly string[]): Parsed<Prepared> {
  const at = scope === 'shared' ? -1 : words.indexOf('--account');
  return read(at < 0 ? words : words.toSpliced(at, 2));
}

/** All of them, when none is named. */
function accountsMeant(words: readonly string[], config: Config): Parsed<readonly Config[]> {
  const all = allAccounts(config);
  const at = words.indexOf('--account');
  if (at < 0) return parsed(all);
  const named = accountNamed(words[at + 1], all);
  return named.ok ? parsed([named.value]) : named;
}
