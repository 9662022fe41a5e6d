import type { Caller, Permission } from '../command.ts';

/**
 * A role: whom it holds, by user id and by user group (`@handle` or id), and what they may do; `*` is everything.
 * `accounts`: for these merchant accounts alone, by name; for all when absent. `channels`: there alone, by channel id
 * and `direct`; everywhere when absent.
 */
export type Role = {
  users: readonly string[];
  groups: readonly string[];
  may: readonly Permission[];
  accounts?: readonly string[] | undefined;
  channels?: readonly string[] | undefined;
};

export type NamedRole = { name: string; role: Role };

/** The roles of `payops.yml` that give a person a permission; none: they may not. `unknown`: Slack could not be asked. */
export type Standing = { kind: 'known'; roles: readonly string[] } | { kind: 'unknown' };

/**
 * Asked of a Slack user id, wherever that person is: for what was asked for in a fitting place before and is judged
 * again later. Never throws.
 */
export type StandingOf = (permission: string, userId: string) => Promise<Standing>;

/** The Slack user ids of everybody who holds the permission, wherever they are, as far as Slack tells. Never throws. */
export type HoldersOf = (permission: string) => Promise<readonly string[]>;

/** What stands in `channels` of a role for direct messages with the bot, its Home and shortcuts. */
export const direct = 'direct';

/**
 * Where a role must hold for what the caller does: a channel's id, or `direct` where there is none. Undefined in a
 * modal: it was opened in a fitting place, and Slack does not tell which that was.
 */
export function placeOf({ channelId, from }: Pick<Caller, 'channelId' | 'from'>): string | undefined {
  if (channelId !== undefined) return channelId.startsWith('D') ? direct : channelId;
  return from === 'modal' ? undefined : direct;
}
