import type { Command, Permission } from '../slack/command.ts';
import { deleteCardPermission } from './cards/cards.ts';
import { revealPermission } from './lookup/reveal.ts';
import { newAccountPermission } from './new-account/account.ts';

/** Every verb of the bot, in the order of the help. */
const helpOrder: readonly string[] = [
  'lookup',
  'charge',
  'otp',
  'link',
  'card-email',
  'cards',
  'doubt',
  'story',
  'terminals',
  'accounts',
  'account',
  'approvals',
  'alerts',
  'undelivered',
  'doctor',
];

export function inHelpOrder(verbs: readonly Command[]): Command[] {
  return verbs.toSorted((one, other) => helpOrder.indexOf(one.verb) - helpOrder.indexOf(other.verb));
}

/** What a role may be given besides `*`: the permissions that the verbs ask for. */
export const permissions: readonly Permission[] = [
  'lookup',
  revealPermission,
  'charge',
  'otp',
  'link',
  'card-email',
  'cards',
  deleteCardPermission,
  'doubt',
  'story',
  'terminals',
  'accounts',
  newAccountPermission,
  'alerts',
  'undelivered',
  'doctor',
  'approve',
];
