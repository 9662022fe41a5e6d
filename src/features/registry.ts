import type { Account } from '../account.ts';
import type { Command, Permission } from '../slack/command.ts';
import { deleteCardPermission } from './cards/cards.ts';
import { createAccounts, createTerminals } from './lists/lists.ts';
import { revealPermission } from './lookup/reveal.ts';
import { createNewAccount, newAccountPermission } from './new-account/account.ts';

type Entry = {
  verb: string;
  /** What a role may be given for it; its own name, when nothing is said. */
  permissions?: readonly Permission[];
  /** Makes a verb that works with the account alone. One that needs another feature is made in `src/account.ts`. */
  create?: (account: Account) => Command;
};

/** Every verb of the bot, in the order of the help. */
const registry: readonly Entry[] = [
  { verb: 'lookup', permissions: ['lookup', revealPermission] },
  { verb: 'charge' },
  { verb: 'otp' },
  { verb: 'link' },
  { verb: 'card-email' },
  { verb: 'cards', permissions: ['cards', deleteCardPermission] },
  { verb: 'doubt' },
  { verb: 'story' },
  { verb: 'terminals', create: createTerminals },
  { verb: 'accounts', create: createAccounts },
  { verb: 'account', permissions: [newAccountPermission], create: createNewAccount },
  { verb: 'approvals', permissions: ['approve'] },
  { verb: 'alerts' },
  { verb: 'undelivered' },
  { verb: 'doctor' },
];

/** What a role may be given besides `*`: the permissions that the verbs ask for. */
export const permissions: readonly Permission[] = registry.flatMap(
  ({ verb, permissions: named = [verb] }) => named,
);

/** All verbs of an account, in the order of the help: those made elsewhere, and those that need the account alone. */
export function withVerbsOf(account: Account, others: readonly Command[]): Command[] {
  const verbs = [...others, ...registry.flatMap(({ create }) => (create ? [create(account)] : []))];
  const places = registry.map(({ verb }) => verb);
  return verbs.toSorted((one, other) => places.indexOf(one.verb) - places.indexOf(other.verb));
}
