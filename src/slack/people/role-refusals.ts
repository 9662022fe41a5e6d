import { readPermission } from '../../domain/merchant.ts';
import type { Permission, Refused } from '../command.ts';
import type { NamedRole } from './role.ts';
import { emptyGroupFix } from './user-groups.ts';

/** More names than these are no help to whoever looks for somebody to ask. */
const mostPeople = 5;

export function groupsNotKnown(groups: readonly string[]): Refused {
  return {
    kind: 'refused',
    rule: `Slack didn’t say who is in ${groups.join(', ')}`,
    whoCan: 'Try again in a minute; people listed by user id are not affected',
  };
}

/** In a role that has the permission, and not where that role counts. */
export function wrongPlace(permission: Permission, own: readonly NamedRole[]): Refused {
  const names = own.map(({ name }) => name);
  const many = names.length > 1 ? 'Your roles' : 'Your role';
  const give = names.length > 1 ? 'give' : 'gives';
  return {
    kind: 'refused',
    rule: `${many} ${names.join(', ')} ${give} the ${permissionWords(permission)} only in certain places`,
    whoCan: 'You, there',
    where: [...new Set(own.flatMap(({ role }) => role.channels ?? []))],
  };
}

/** In no role that has the permission; `empty`: groups of such roles that count as empty, and what Slack says why. */
export function notInRole(
  permission: Permission,
  about: { fitting: readonly NamedRole[]; empty: readonly { group: string; why: string }[] },
): Refused {
  const { fitting, empty } = about;
  const rule = `It needs the ${permissionWords(permission)}`;
  if (fitting.length === 0) {
    return { kind: 'refused', rule, whoCan: 'Nobody yet: no role in payops.yml has it' };
  }
  const names = fitting.map(({ name, role }) =>
    [name, ...role.groups.map((group) => `(${group})`)].join(' '),
  );
  const many = names.length > 1 ? 'the roles' : 'the role';
  const people = [...new Set(fitting.flatMap(({ role }) => role.users))];
  return {
    kind: 'refused',
    rule,
    whoCan: `People in ${many} ${names.join(', ')}`,
    ...(people.length > 0 && people.length <= mostPeople ? { people } : {}),
    ...(empty.length === 0 ? {} : { notes: empty.map(emptyNote) }),
  };
}

function emptyNote({ group, why }: { group: string; why: string }): string {
  return `${group} counts as empty (${why}). ${emptyGroupFix(why)}`.trim();
}

function permissionWords(permission: Permission): string {
  const { plain, merchant } = readPermission(permission);
  return `permission “${plain}”${merchant === undefined ? '' : ` for the account ${merchant}`}`;
}
