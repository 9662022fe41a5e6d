import { type Members, emptyGroupFix, createUserGroups } from './user-groups.ts';
import type { Permission, Refused, Caller, MayRun, Permit } from '../command.ts';
import {
  type NamedRole,
  type HoldersOf,
  type Standing,
  type StandingOf,
  type Role,
  placeOf,
} from './role.ts';
import type { WebClient } from '@slack/web-api';
import { readPermission } from '../../domain/merchant.ts';
import type { NameOf } from './names.ts';
import { createPeople, noMember, noMemberRefusal, notKnownWho, type Account } from './people.ts';
import type { Remembered, RememberDeps } from '../remembered.ts';
import type { Identity } from '../workspace.ts';

export type DirectoryDeps = RememberDeps & {
  client: WebClient;
  /** Which workspace the bot is installed in; undefined while Slack has not said. */
  identity: () => Identity | undefined;
};

export type Directory = {
  mayRun: MayRun;
  standingOf: StandingOf;
  /**
   * Everybody who holds the permission, wherever they are: by user id and by group. Groups of which Slack does not
   * tell the members are left out, and so is, of the first fifty, who is surely no member of the workspace. Never
   * throws.
   */
  holdersOf: HoldersOf;
  /** Whoever pressed or typed something was asked about then, so that their names cost no call of Slack. */
  nameOf: NameOf;
};

/**
 * Deny by default: only who is in a role that has the permission, where that role counts, is let through, and of
 * those only members of the bot's own workspace: no guest, no bot, nobody whose account is deactivated or of another
 * workspace. What Slack says holds for ten minutes, and for a day while it is away; when neither membership nor
 * person can be known, nobody is let through. Slack is asked no more than the answer needs: of somebody who is in no
 * fitting role anyway it is not asked who they are.
 */
export function createDirectory(roles: Readonly<Record<string, Role>>, deps: DirectoryDeps): Directory {
  const groups = createUserGroups(deps);
  const parts: Parts = {
    roles: Object.entries(roles).map(([name, role]) => ({ name, role })),
    groups,
    people: createPeople(deps),
    identity: deps.identity,
  };
  return {
    mayRun: sharedFor(momentMs, deps.now, (permission, caller) => judge(permission, caller, parts)),
    standingOf: (permission, userId) => standing(permission, userId, parts),
    holdersOf: (permission) => holders(permission, parts),
    nameOf: async (userId) => (await parts.people.known(userId))?.name,
  };
}

/** Help asks for every permission, and a person who types fast asks again: within a second nobody's role is another. */
const momentMs = 1_000;
const mostShared = 1_000;

/** The same answer to the same question for a moment. */
function sharedFor(ms: number, now: () => number, ask: MayRun): MayRun {
  const shared = new Map<string, { permit: Promise<Permit>; atMs: number }>();
  return (permission, caller) => {
    const key = `${permission} ${caller.userId} ${placeOf(caller) ?? ''}`;
    const known = shared.get(key);
    const nowMs = now();
    if (known && nowMs - known.atMs < ms && nowMs >= known.atMs) return known.permit;
    if (shared.size >= mostShared) shared.clear();
    const permit = ask(permission, caller);
    shared.set(key, { permit, atMs: nowMs });
    return permit;
  };
}

type Parts = {
  roles: readonly NamedRole[];
  groups: Remembered<Members>;
  people: Remembered<Account>;
  identity: () => Identity | undefined;
};

const allowed: Permit = { kind: 'allowed' };

async function judge(permission: Permission, caller: Caller, parts: Parts): Promise<Permit> {
  const { userId } = caller;
  const fitting = having(permission, parts.roles);
  const here = fitting.filter(({ role }) => countsAt(role, placeOf(caller)));
  if (!here.some(lists(userId))) {
    const { own, unknown, empty } = await membershipOf(userId, fitting, parts);
    const missing = groupsOf(here).filter((group) => unknown.includes(group));
    if (!own.some((one) => here.includes(one))) {
      if (missing.length > 0) return groupsNotKnown(missing);
      return own.length > 0 ? wrongPlace(permission, own) : notInRole(permission, { fitting, empty });
    }
  }
  return (await whyNoMember(userId, parts)) ?? allowed;
}

/** Undefined: a member of the workspace. */
async function whyNoMember(userId: string, { people, identity }: Parts): Promise<Refused | undefined> {
  const asked = await people.of(userId);
  if (asked.kind === 'unknown') return notKnownWho(asked.slackError);
  const why = noMember(asked.value, identity());
  return why && noMemberRefusal(why);
}

async function standing(permission: Permission, userId: string, parts: Parts): Promise<Standing> {
  const { own, unknown } = await membershipOf(userId, having(permission, parts.roles), parts);
  if (own.length === 0) return unknown.length > 0 ? { kind: 'unknown' } : { kind: 'known', roles: [] };
  const person = await parts.people.of(userId);
  if (person.kind === 'unknown') return { kind: 'unknown' };
  const isMember = noMember(person.value, parts.identity()) === undefined;
  return { kind: 'known', roles: isMember ? own.map(({ name }) => name) : [] };
}

/** Slack takes some hundred such questions a minute. */
const mostAsked = 50;

async function holders(permission: Permission, parts: Parts): Promise<readonly string[]> {
  const { groups, people, identity } = parts;
  const fitting = having(permission, parts.roles);
  const asked = await Promise.all(groupsOf(fitting).map((group) => groups.of(group)));
  const listed = fitting.flatMap(({ role }) => role.users);
  const inGroups = asked.flatMap((one) => (one.kind === 'known' ? one.value.users : []));
  const all = [...new Set([...listed, ...inGroups])];
  const persons = await Promise.all(all.slice(0, mostAsked).map((userId) => people.of(userId)));
  return all.filter((_, index) => {
    const person = persons[index];
    return person?.kind !== 'known' || noMember(person.value, identity()) === undefined;
  });
}

function having(permission: Permission, roles: readonly NamedRole[]): NamedRole[] {
  const { plain, merchant } = readPermission(permission);
  return roles.filter(
    ({ role }) => (role.may.includes(plain) || role.may.includes('*')) && isFor(role, merchant),
  );
}

function isFor({ accounts }: Role, merchant: string | undefined): boolean {
  return accounts === undefined || (merchant !== undefined && accounts.includes(merchant));
}

/** `place` is undefined where it was judged before. */
function countsAt({ channels }: Role, place: string | undefined): boolean {
  return channels === undefined || place === undefined || channels.includes(place);
}

/** More names than these are no help to whoever looks for somebody to ask. */
const mostPeople = 5;

function groupsNotKnown(groups: readonly string[]): Refused {
  return {
    kind: 'refused',
    rule: `Slack didn’t say who is in ${groups.join(', ')}`,
    whoCan: 'Try again in a minute; people listed by user id are not affected',
  };
}

/** In a role that has the permission, and not where that role counts. */
function wrongPlace(permission: Permission, own: readonly NamedRole[]): Refused {
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
function notInRole(
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

/**
 * Which of the roles hold a person. `unknown`: groups that Slack tells nothing of, so that what they would give is not
 * among `own`; `empty`: those that count as empty, and what Slack says why.
 */
async function membershipOf(userId: string, roles: readonly NamedRole[], { groups }: Pick<Parts, 'groups'>) {
  const asked = await Promise.all(
    groupsOf(roles).map(async (group) => ({ group, answer: await groups.of(group) })),
  );
  const told = asked.flatMap(({ group, answer }) =>
    answer.kind === 'known' ? [{ group, ...answer.value }] : [],
  );
  const mine = told.filter(({ users }) => users.includes(userId)).map(({ group }) => group);
  const isListed = lists(userId);
  return {
    own: roles.filter((one) => isListed(one) || one.role.groups.some((group) => mine.includes(group))),
    unknown: asked.filter(({ answer }) => answer.kind === 'unknown').map(({ group }) => group),
    empty: told.flatMap(({ group, empty: why }) => (why === undefined ? [] : [{ group, why }])),
  };
}

function lists(userId: string): (one: NamedRole) => boolean {
  return ({ role }) => role.users.includes(userId);
}

function groupsOf(roles: readonly NamedRole[]): string[] {
  return [...new Set(roles.flatMap(({ role }) => role.groups))];
}
