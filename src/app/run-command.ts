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

/** What `node src/main.ts <command> <words>` does instead of starting the bot. Never throws. */
export async function runCommand(
  name: string,
  words: readonly string[],
  outside: Outside,
): Promise<CommandEnd> {
  const command = commands.get(name);
  if (command) return await command(outside, words);
  const known = [...commands.keys()].join(' and ');
  return {
    exitCode: 2,
    words: `Payops has no command “${name}”. It has ${known}; without one the bot starts.`,
  };
}
