import type { Account, Feature } from '../account.ts';
import type { Command, Permission } from '../slack/command.ts';
import { deleteCardPermission } from './cards/cards.ts';
import { createLists } from './lists/lists.ts';
import { revealPermission } from './lookup/reveal.ts';
import { createNewAccount, newAccountPermission } from './new-account/new-account.ts';

type Entry = {
  verb: string;
  /** The permissions that a role may list for it; default: its name. */
  permissions?: readonly Permission[];
  /** Creates a feature that needs no other one; `src/merchants.ts` creates the rest. */
  create?: (account: Account) => Feature;
};

/** Every verb of the bot, in the order of the help. */
const registry: readonly Entry[] = [
  { verb: 'lookup', permissions: ['lookup', revealPermission] },
  { verb: 'find' },
  { verb: 'charge' },
  { verb: 'otp' },
  { verb: 'link' },
  { verb: 'card-email' },
  { verb: 'cards', permissions: ['cards', deleteCardPermission] },
  { verb: 'doubt' },
  { verb: 'story' },
  { verb: 'terminals', create: createLists },
  { verb: 'accounts' },
  { verb: 'account', permissions: [newAccountPermission], create: createNewAccount },
  { verb: 'approvals', permissions: ['approve'] },
  { verb: 'alerts' },
  { verb: 'mute' },
  { verb: 'undelivered' },
  { verb: 'doctor' },
];

/** All permissions that a role may list, besides `*`. */
export const permissions: readonly Permission[] = registry.flatMap(
  ({ verb, permissions: named = [verb] }) => named,
);

/** The features that need no other one. */
export function ownFeatures(account: Account): Feature[] {
  return registry.flatMap(({ create }) => (create ? [create(account)] : []));
}

/** The verbs of the features, in the order of the help. */
export function verbsOf(features: readonly Feature[]): Command[] {
  const places = registry.map(({ verb }) => verb);
  return features
    .flatMap(({ verbs = [] }) => verbs)
    .toSorted((one, other) => places.indexOf(one.verb) - places.indexOf(other.verb));
}
