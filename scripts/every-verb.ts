import type { Account } from '../src/account.ts';
import { createAlerts } from '../src/features/alerts/alerts.ts';
import { createFourEyes } from '../src/features/approvals/approvals-command.ts';
import { createCardEmail } from '../src/features/card-email/card-email.ts';
import { createCards } from '../src/features/cards/cards.ts';
import { createCharges } from '../src/features/charge/charge.ts';
import { doctorCommand } from '../src/features/doctor/doctor.ts';
import { createLinks } from '../src/features/links/link.ts';
import { createLookup } from '../src/features/lookup/lookup.ts';
import { withVerbsOf } from '../src/features/registry.ts';
import { createStory } from '../src/features/story/story.ts';
import { createUndelivered } from '../src/features/undelivered/undelivered.ts';
import type { Command } from '../src/slack/command.ts';

/** Whatever is asked of it is nothing again: what is made of it can be looked at, and does nothing. */
const nothing: never = new Proxy(() => nothing, { get: (_target, name) => get(name) }) as never;

function get(name: string | symbol): unknown {
  // Nobody waits for nothing, and nothing is gone through item by item.
  if (name === 'then' || name === 'limits') return undefined;
  if (name === 'accountNewFields') return [];
  if (name === Symbol.toPrimitive) return () => 1;
  return name === Symbol.iterator ? () => [][Symbol.iterator]() : nothing;
}

/** Every verb with nothing behind it: its words are read, its buttons and forms counted, and nothing it would do is done. */
export function everyVerb(): Command[] {
  const account: Account = nothing;
  return withVerbsOf(account, [
    createLookup(account, nothing).verb,
    ...createCharges(account, nothing).verbs,
    createLinks(account, nothing).verb,
    createCardEmail(account, nothing).verb,
    createCards(account, nothing),
    createStory(account, nothing),
    ...createFourEyes(account, nothing).verbs,
    createAlerts(account, nothing).verb,
    createUndelivered(account, nothing),
    doctorCommand(nothing),
  ]);
}
