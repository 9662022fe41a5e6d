import type { Account } from '../src/account.ts';
import { doctorCommand } from '../src/features/doctor/doctor.ts';
import { createLists } from '../src/features/lists/lists.ts';
import { createLookup } from '../src/features/lookup/lookup.ts';
import { createNewAccount } from '../src/features/new-account/account.ts';
import { createVerbs } from '../src/features/registry.ts';
import { createStory } from '../src/features/story/story.ts';
import { createUndelivered } from '../src/features/undelivered/undelivered.ts';
import type { Command } from '../src/slack/command.ts';

/** Whatever is asked of it is nothing again: what is made of it can be looked at, and does nothing. */
const nothing: never = new Proxy(() => nothing, { get: (_target, name) => get(name) }) as never;

function get(name: string | symbol): unknown {
  // Nobody waits for nothing, and nothing is gone through item by item.
  if (name === 'then') return undefined;
  if (name === 'accountNewFields') return [];
  return name === Symbol.iterator ? () => [][Symbol.iterator]() : nothing;
}

/** Every verb with nothing behind it: its words are read, its buttons and forms counted, and nothing it would do is done. */
export function everyVerb(): Command[] {
  const account: Account = nothing;
  return createVerbs(
    [
      createLookup(account, nothing).verb,
      ...createLists(account),
      createNewAccount(account),
      createStory(account, nothing),
      createUndelivered(account, nothing),
      doctorCommand(nothing),
    ],
    nothing,
    nothing,
  );
}
