import type { Caller, Permission } from '../command.ts';

/**
 * A role: its people, by user id or user group (`@handle` or id), and their permissions; `*` is all. `accounts`: the
 * merchant accounts it counts for, by name; default all. `channels`: where it counts, by channel id or `direct`; default
 * everywhere.
 */
export type Role = {
  users: readonly string[];
  groups: readonly string[];
  may: readonly Permission[];
  accounts?: readonly string[] | undefined;
  channels?: readonly string[] | undefined;
};

export type NamedRole = { name: string; role: Role };

/** The roles that give a person a permission; without any, the person lacks it. `unknown`: Slack gave no answer. */
export type HeldRoles = { kind: 'known'; roles: readonly string[] } | { kind: 'unknown' };

/** The roles that give this person the permission in any channel, to check again later. Never throws. */
export type RolesOf = (permission: string, userId: string) => Promise<HeldRoles>;

/** Everybody who has the permission in any channel, as far as Slack tells. Never throws. */
export type HoldersOf = (permission: string) => Promise<readonly string[]>;

/** In a role's `channels`: direct messages with the bot, its Home and shortcuts. */
export const direct = 'direct';

/**
 * Where the caller's role must count: a channel id, or `direct`. Undefined in a modal: Slack doesn't say its channel, which
 * was checked when the modal opened.
 */
export function roleChannel({ channelId, from }: Pick<Caller, 'channelId' | 'from'>): string | undefined {
  if (channelId !== undefined) return channelId.startsWith('D') ? direct : channelId;
  return from === 'modal' ? undefined : direct;
}
