import type { Command, Permission } from '../slack/command.ts';
import { lookupCommand, type LookupDeps } from './lookup.ts';

export type VerbDeps = LookupDeps;

/** Every verb of the bot, in the order of the help. A new verb is a file beside this one and a line here. */
export function createVerbs(deps: VerbDeps): Command[] {
  return [lookupCommand(deps)];
}

/** What a role may be given besides `*`: the permissions that the verbs above ask for. */
export const permissions: readonly Permission[] = ['lookup'];
