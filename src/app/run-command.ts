import type { CommandEnd } from './command-end.ts';
import { runExplainDelivery } from './explain-delivery.ts';
import { runForgetCards } from './forget-cards.ts';
import type { Outside } from './outside.ts';
import { runRedrive } from './redrive.ts';
import { runRehearse } from './rehearse.ts';
import { runRevokeToken } from './revoke-token.ts';

type Command = (outside: Outside, words: readonly string[]) => Promise<CommandEnd>;

const commands: ReadonlyMap<string, Command> = new Map([
  ['explain-delivery', runExplainDelivery],
  ['forget-cards', runForgetCards],
  ['redrive', runRedrive],
  ['rehearse', runRehearse],
  ['revoke-token', runRevokeToken],
]);

/** One of the `operatorCommands`: what it does instead of starting the bot. Never throws for what is outside. */
export async function runCommand(
  name: string,
  words: readonly string[],
  outside: Outside,
): Promise<CommandEnd> {
  const command = commands.get(name);
  if (!command) throw new Error(`no operator's command of the name ${name}`);
  return await command(outside, words);
}

export const operatorCommands: readonly string[] = [...commands.keys()];
