import type { Policy } from '../config/policy.ts';
import { readPermission } from '../domain/merchant.ts';
import type { StandingOf } from '../domain/standing.ts';

/**
 * The roles that name the person by user id, and no user group's: who could only be in one has an unknown standing. It
 * stands here until the directory tells a person's standing.
 */
export function listedStanding({ roles }: Pick<Policy, 'roles'>): StandingOf {
  return (permission, userId) => {
    const { plain, merchant } = readPermission(permission);
    const fitting = Object.entries(roles).filter(
      ([, { may, accounts }]) =>
        (may.includes(plain) || may.includes('*')) &&
        (accounts === undefined || (merchant !== undefined && accounts.includes(merchant))),
    );
    const own = fitting.filter(([, { users }]) => users.includes(userId)).map(([name]) => name);
    const mayBeInGroup = own.length === 0 && fitting.some(([, { groups }]) => groups.length > 0);
    return Promise.resolve(mayBeInGroup ? { kind: 'unknown' } : { kind: 'known', roles: own });
  };
}
