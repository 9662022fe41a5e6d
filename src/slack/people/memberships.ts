import type { Remembered } from '../remembered.ts';
import type { NamedRole } from './role.ts';
import type { Members } from './user-groups.ts';

/** Which roles hold a person. */
export type Membership = {
  roles: readonly NamedRole[];
  /** Groups of the roles asked for that Slack tells nothing of: what they would give is not among `roles`. */
  unknown: readonly string[];
  /** Groups that count as empty, and what Slack says why. */
  empty: readonly { group: string; why: string }[];
};

export type Memberships = {
  of(userId: string, roles: readonly NamedRole[]): Promise<Membership>;
  /** Whether one of the roles holds the person, as far as that is known without asking Slack. */
  known(userId: string, roles: readonly NamedRole[]): Promise<'yes' | 'no' | 'not_known'>;
};

export function createMemberships(groups: Remembered<Members>): Memberships {
  return {
    async of(userId, roles) {
      const all = groupsOf(roles);
      const asked = await Promise.all(all.map(async (group) => ({ group, answer: await groups.of(group) })));
      const told = asked.flatMap(({ group, answer }) =>
        answer.kind === 'known' ? [{ group, ...answer.value }] : [],
      );
      const own = told.filter(({ users }) => users.includes(userId)).map(({ group }) => group);
      return {
        roles: roles.filter(
          ({ role }) => role.users.includes(userId) || role.groups.some((group) => own.includes(group)),
        ),
        unknown: asked.filter(({ answer }) => answer.kind === 'unknown').map(({ group }) => group),
        empty: told.flatMap(({ group, empty: why }) => (why === undefined ? [] : [{ group, why }])),
      };
    },
    async known(userId, roles) {
      if (roles.some(({ role }) => role.users.includes(userId))) return 'yes';
      const fresh = await Promise.all(groupsOf(roles).map((group) => groups.fresh(group)));
      if (fresh.some((members) => members?.users.includes(userId))) return 'yes';
      return fresh.includes(undefined) ? 'not_known' : 'no';
    },
  };
}

export function groupsOf(roles: readonly NamedRole[]): string[] {
  return [...new Set(roles.flatMap(({ role }) => role.groups))];
}
