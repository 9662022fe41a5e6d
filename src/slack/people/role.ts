import type { Permission } from '../command.ts';

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
