import type { Caller, Permission } from '../command.ts';

/**
 * A role: its people, by user id or user group (`@handle` or id), and their permissions; `*` is all. `accounts`: only these
 * merchant accounts, by name; default all. `channels`: only there, by channel id and `direct`; default everywhere.
 */
export type Role = {
  users: readonly string[];
  groups: readonly string[];
  may: readonly Permission[];
  accounts?: readonly string[] | undefined;
  channels?: readonly string[] | undefined;
};

export type NamedRole = { name: string; role: Role };

/** The roles that give a person a permission; none: they may not. `unknown`: Slack gave no answer. */
export type HeldRoles = { kind: 'known'; roles: readonly string[] } | { kind: 'unknown' };

/**
 * The roles that give this person the permission in any channel: for checking again after a request, whose channel was
 * checked then. Never throws.
 */
export type RolesOf = (permission: string, userId: string) => Promise<HeldRoles>;

/** Everybody who holds the permission, in any place, as far as Slack tells. Never throws. */
export type HoldersOf = (permission: string) => Promise<readonly string[]>;

/** In a role's `channels`: direct messages with the bot, its Home and shortcuts. */
export const direct = 'direct';

/**
 * Where a role must count: a channel id, or `direct`. Undefined in a modal: its place was checked when it opened, and Slack
 * does not say it.
 */
export function placeOf({ channelId, from }: Pick<Caller, 'channelId' | 'from'>): string | undefined {
  if (channelId !== undefined) return channelId.startsWith('D') ? direct : channelId;
  return from === 'modal' ? undefined : direct;
}
