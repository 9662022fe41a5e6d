import type { WebClient } from '@slack/web-api';
import { readPermission } from '../../domain/merchant.ts';
import type { Log } from '../../log.ts';
import type { Caller, MayRun, Permission, Permit, Refused } from '../command.ts';
import { usersReadFix } from '../slack-error.ts';
import { identityOf, type Identity } from '../workspace.ts';
import { emptyGroupFix, fetchAccount, membersOf, whyNoMember, noMemberRules } from './people.ts';
import type { NameOf } from './names.ts';
import { createCachedAnswers, type SharedAnswers } from './cached-answers.ts';
import { roleChannel, type HoldersOf, type NamedRole, type Role, type RolesOf } from './role.ts';

export type Directory = { mayRun: MayRun; rolesOf: RolesOf; holdersOf: HoldersOf; nameOf: NameOf };

/** Help asks for every permission at once, and people repeat themselves: reuse answers for a second. */
const reuseMs = 1_000;
/** Slack allows about a hundred `users.info` calls a minute. */
const mostAsked = 50;

/**
 * Says who may do what. Permits only people in a role that has the permission and counts in the channel, and only members
 * of the bot's own workspace: no guests, bots, deactivated or foreign accounts. If Slack doesn't say who a person is or who
 * is in a group, refuses. Slack's answers are valid for ten minutes, and for a day while Slack is away. Slack is not asked
 * about people without a fitting role. `identity`: undefined while Slack has not said who the bot is.
 */
export function createDirectory(
  roles: Readonly<Record<string, Role>>,
  slack: {
    client: WebClient;
    cache: SharedAnswers;
    log: Log;
    now: () => number;
    identity: () => Identity | undefined;
  },
): Directory {
  const { client, log, now, identity } = slack;
  const named = Object.entries(roles).map(([name, role]) => ({ name, role }));
  const people = createCachedAnswers(slack, 'slack-person', (userId) => fetchAccount(client, userId));
  /** Asked only until `identity` knows the bot. */
  const bots = createCachedAnswers(slack, 'slack-bot', async () => identityOf(await client.auth.test()));
  const warned = new Set<string>();
  const groups = createCachedAnswers(slack, 'slack-group', async (group) => {
    const members = await membersOf(client, group);
    const { empty: slackError } = members;
    if (slackError !== undefined && !warned.has(`${group} ${slackError}`)) {
      warned.add(`${group} ${slackError}`);
      const fix = emptyGroupFix(slackError);
      log('warn', `User group ${group} counts as empty: ${slackError}`, { slackError, fix });
    }
    return members;
  });

  /**
   * `own`: which of the fitting roles the person is in, as far as known. `unknown`: groups that Slack didn't list. `notes`:
   * groups that count as empty, and why.
   */
  async function membershipOf(userId: string, fitting: readonly NamedRole[]) {
    const listed = await Promise.all(
      groupsOf(fitting).map(async (group) => ({ group, answer: await groups.of(group) })),
    );
    const known = listed.flatMap(({ group, answer }) =>
      answer.kind === 'known' ? [{ group, ...answer.value }] : [],
    );
    const mine = new Set(known.filter(({ users }) => users.includes(userId)).map(({ group }) => group));
    return {
      own: fitting.filter(
        (one) => listsUser(one, userId) || one.role.groups.some((group) => mine.has(group)),
      ),
      unknown: listed.filter(({ answer }) => answer.kind === 'unknown').map(({ group }) => group),
      notes: known.flatMap(({ group, empty }) =>
        empty === undefined ? [] : [`${group} counts as empty (${empty}). ${emptyGroupFix(empty)}`],
      ),
    };
  }

  async function judge(permission: Permission, caller: Caller): Promise<Permit> {
    const { userId } = caller;
    const fitting = rolesWith(permission, named);
    const here = fitting.filter(({ role }) => countsIn(role, roleChannel(caller)));
    if (!here.some((one) => listsUser(one, userId))) {
      const { own, unknown, notes } = await membershipOf(userId, fitting);
      const missing = groupsOf(here).filter((group) => unknown.includes(group));
      if (!own.some((one) => here.includes(one))) {
        if (missing.length > 0) return groupsUnknown(missing);
        return own.length > 0 ? wrongChannel(permission, own) : notInRole(permission, fitting, notes);
      }
    }
    const person = await people.of(userId);
    if (person.kind === 'unknown') return accountUnknown(person.slackError);
    let own = identity();
    if (own === undefined) {
      // Without the bot's workspace everybody would pass for a member of it.
      const bot = await bots.of('own');
      if (bot.kind === 'unknown') return accountUnknown(bot.slackError);
      own = bot.value;
    }
    const why = whyNoMember(person.value, own);
    return why === undefined ? { kind: 'allowed' } : refused(noMemberRules[why], memberInRole);
  }

  const shared = new Map<string, Promise<Permit>>();
  let sharedAtMs = now();

  return {
    mayRun(permission, caller) {
      const nowMs = now();
      if (!(nowMs - sharedAtMs < reuseMs && nowMs >= sharedAtMs)) {
        shared.clear();
        sharedAtMs = nowMs;
      }
      const key = `${permission} ${caller.userId} ${roleChannel(caller) ?? ''}`;
      const permit = shared.get(key) ?? judge(permission, caller);
      shared.set(key, permit);
      return permit;
    },

    async rolesOf(permission, userId) {
      const { own, unknown } = await membershipOf(userId, rolesWith(permission, named));
      if (own.length === 0) return unknown.length > 0 ? { kind: 'unknown' } : { kind: 'known', roles: [] };
      const person = await people.of(userId);
      if (person.kind === 'unknown') return { kind: 'unknown' };
      const isMember = whyNoMember(person.value, identity()) === undefined;
      return { kind: 'known', roles: isMember ? own.map(({ name }) => name) : [] };
    },

    /** Leaves out groups that Slack doesn't list. Only the first fifty people are checked; guests among them are left out. */
    async holdersOf(permission) {
      const fitting = rolesWith(permission, named);
      const listed = await Promise.all(groupsOf(fitting).map((group) => groups.of(group)));
      const inGroups = listed.flatMap((one) => (one.kind === 'known' ? one.value.users : []));
      const all = [...new Set([...fitting.flatMap(({ role }) => role.users), ...inGroups])];
      const persons = await Promise.all(all.slice(0, mostAsked).map((userId) => people.of(userId)));
      return all.filter((_, index) => {
        const person = persons[index];
        return person?.kind !== 'known' || whyNoMember(person.value, identity()) === undefined;
      });
    },

    /** From the cache: the permission check fetched everybody who pressed or typed. */
    nameOf: async (userId) => (await people.cached(userId))?.name,
  };
}

function rolesWith(permission: Permission, roles: readonly NamedRole[]): NamedRole[] {
  const { plain, merchant } = readPermission(permission);
  return roles.filter(
    ({ role: { may, accounts } }) =>
      (may.includes(plain) || may.includes('*')) &&
      (accounts === undefined || (merchant !== undefined && accounts.includes(merchant))),
  );
}

/** `channel`: the role channel; undefined if the channel was checked before. */
function countsIn({ channels }: Role, channel: string | undefined): boolean {
  return channels === undefined || channel === undefined || channels.includes(channel);
}

function listsUser({ role }: NamedRole, userId: string): boolean {
  return role.users.includes(userId);
}

function groupsOf(roles: readonly NamedRole[]): string[] {
  return [...new Set(roles.flatMap(({ role }) => role.groups))];
}

function refused(rule: string, whoCan: string): Refused {
  return { kind: 'refused', rule, whoCan };
}

const memberInRole = 'Ask a full member of this workspace who has a role';

/** Slack gave no answer about the account. */
function accountUnknown(slackError: string): Refused {
  return slackError === 'missing_scope'
    ? refused(
        'The bot may not ask Slack who is a guest',
        `Everybody in a role can use it once that is mended. ${usersReadFix}`,
      )
    : refused(
        'Slack didn’t confirm your account',
        'Try again in a minute; if it stays so, tell the people who run this bot: the log says why',
      );
}

function groupsUnknown(groups: readonly string[]): Refused {
  const rule = `Slack didn’t say who is in ${groups.join(', ')}`;
  return refused(rule, 'Try again in a minute; people listed by user id are not affected');
}

/** A role has the permission, but doesn't count in this channel. */
function wrongChannel(permission: Permission, own: readonly NamedRole[]): Refused {
  const names = own.map(({ name }) => name).join(', ');
  const give = own.length > 1 ? `Your roles ${names} give` : `Your role ${names} gives`;
  const rule = `${give} the ${permissionWords(permission)} only in certain places`;
  return {
    ...refused(rule, 'You, there'),
    isByRole: true,
    where: [...new Set(own.flatMap(({ role }) => role.channels ?? []))],
  };
}

/** More names don't help a person who looks for somebody to ask. */
const mostPeople = 5;

/** No role of the person has the permission. */
function notInRole(permission: Permission, fitting: readonly NamedRole[], notes: readonly string[]): Refused {
  const rule = `It needs the ${permissionWords(permission)}`;
  if (fitting.length === 0) {
    return { ...refused(rule, 'Nobody yet: no role in payops.yml has it'), isByRole: true };
  }
  const names = fitting.map(({ name, role }) =>
    [name, ...role.groups.map((group) => `(${group})`)].join(' '),
  );
  const people = [...new Set(fitting.flatMap(({ role }) => role.users))];
  return {
    ...refused(rule, `People in the role${names.length > 1 ? 's' : ''} ${names.join(', ')}`),
    isByRole: true,
    ...(people.length > 0 && people.length <= mostPeople ? { people } : {}),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

function permissionWords(permission: Permission): string {
  const { plain, merchant } = readPermission(permission);
  return `permission “${plain}”${merchant === undefined ? '' : ` for the account ${merchant}`}`;
}
