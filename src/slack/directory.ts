import type { WebClient } from '@slack/web-api';
import { readPermission } from '../domain/merchant.ts';
import type { Log } from '../log.ts';
import type { MayRun, Permission, Permit } from './command.ts';
import { readSlackError, slackErrorWord } from './slack-error.ts';

/**
 * A role: whom it holds, by user id and by user group (`@handle` or id), and what they may do; `*` is everything.
 * `accounts`: for these merchant accounts alone, by name; for all when absent.
 */
export type Role = {
  users: readonly string[];
  groups: readonly string[];
  may: readonly Permission[];
  accounts?: readonly string[] | undefined;
};

/** Where members are remembered between calls. A cache that fails costs a call to Slack, nothing else. */
export type DirectoryCache = {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
};

type DirectoryDeps = { client: WebClient; cache: DirectoryCache; log: Log; now: () => number };

const freshMs = 10 * 60_000;
/** How old a list may be when Slack cannot be asked. */
const usableMs = 24 * 60 * 60_000;

type Members = { kind: 'known'; users: readonly string[] } | { kind: 'unknown'; slackError: string };

/**
 * Deny by default: only who is in a role that has the permission is let through, by user id without asking
 * Slack, else by user group. Groups are asked at most every ten minutes; when Slack is away the last known
 * list holds for a day. A workspace without user groups, or a missing scope, makes a group count as empty,
 * with one warning that names the fix. When membership cannot be known, nobody is let through.
 */
export function createMayRun(roles: Readonly<Record<string, Role>>, deps: DirectoryDeps): MayRun {
  const membersOf = createGroups(deps);

  return async function mayRun(permission, caller) {
    const { plain, merchant } = readPermission(permission);
    const fitting = Object.entries(roles).filter(
      ([, role]) => (role.may.includes(plain) || role.may.includes('*')) && isFor(role, merchant),
    );
    if (fitting.some(([, role]) => role.users.includes(caller.userId))) return { kind: 'allowed' };
    const groups = [...new Set(fitting.flatMap(([, role]) => role.groups))];
    const members = await Promise.all(groups.map((group) => membersOf(group)));
    if (members.some((group) => group.kind === 'known' && group.users.includes(caller.userId))) {
      return { kind: 'allowed' };
    }
    const unknown = groups.filter((_, index) => members[index]?.kind === 'unknown');
    return unknown.length > 0 ? notKnown(unknown) : notAllowed(permission, fitting);
  };
}

function isFor({ accounts }: Role, merchant: string | undefined): boolean {
  return accounts === undefined || (merchant !== undefined && accounts.includes(merchant));
}

function notKnown(groups: readonly string[]): Permit {
  return {
    kind: 'refused',
    rule: `Slack could not be asked who is in ${groups.join(', ')}, and without knowing nobody is let through`,
    whoCan: 'Try again in a minute; people listed by user id in payops.yml are not affected',
  };
}

function notAllowed(permission: Permission, fitting: readonly (readonly [string, Role])[]): Permit {
  const { plain, merchant } = readPermission(permission);
  const rule = `It needs the permission “${plain}”${merchant === undefined ? '' : ` for the account ${merchant}`}`;
  if (fitting.length === 0) {
    return { kind: 'refused', rule, whoCan: 'Nobody yet: no role in payops.yml has it' };
  }
  const names = fitting.map(([name, role]) => [name, ...role.groups.map((group) => `(${group})`)].join(' '));
  const many = names.length > 1 ? 'the roles' : 'the role';
  return { kind: 'refused', rule, whoCan: `People in ${many} ${names.join(', ')}` };
}

/** What a workspace refuses for good: the group counts as empty until somebody changes something. */
const degrading: Record<string, string> = {
  paid_teams_only: 'User groups need a paid Slack plan: list user ids under “users” in payops.yml instead.',
  plan_upgrade_required:
    'User groups need a paid Slack plan: list user ids under “users” in payops.yml instead.',
  missing_scope:
    'Give the app the scope usergroups:read and reinstall it, or list user ids under “users” in payops.yml.',
  not_allowed_token_type:
    'List user ids under “users” in payops.yml instead: this token may not read user groups.',
  unknown_method:
    'The Slack API at SLACK_API_URL knows no user groups: list user ids under “users” in payops.yml.',
  no_such_subteam: 'No such user group: check its handle or id in payops.yml.',
  subteam_disabled: 'The user group is disabled: enable it in Slack, or take it out of payops.yml.',
};

function createGroups(deps: DirectoryDeps): (group: string) => Promise<Members> {
  const asking = new Map<string, Promise<Members>>();
  const warned = new Set<string>();

  function warnOnce(group: string, slackError: string): void {
    if (warned.has(`${group} ${slackError}`)) return;
    warned.add(`${group} ${slackError}`);
    deps.log('warn', `User group ${group} counts as empty: ${slackError}`, {
      slackError,
      fix: degrading[slackError] ?? '',
    });
  }

  async function ask(group: string): Promise<Members> {
    const known = await readCache(deps, group);
    if (known && deps.now() - known.atMs < freshMs) return { kind: 'known', users: known.users };
    try {
      const users = await fetchMembers(deps.client, group);
      await writeCache(deps, group, users);
      return { kind: 'known', users };
    } catch (error) {
      const slackError =
        error instanceof NoSuchGroup ? 'no_such_subteam' : slackErrorWord(readSlackError(error));
      if (slackError in degrading) {
        warnOnce(group, slackError);
        await writeCache(deps, group, []);
        return { kind: 'known', users: [] };
      }
      deps.log('warn', `Slack did not say who is in ${group}`, { slackError });
      return known ? { kind: 'known', users: known.users } : { kind: 'unknown', slackError };
    }
  }

  return async function membersOf(group) {
    const running = asking.get(group) ?? ask(group).finally(() => asking.delete(group));
    asking.set(group, running);
    return running;
  };
}

class NoSuchGroup extends Error {}

async function fetchMembers(client: WebClient, group: string): Promise<string[]> {
  const usergroup = group.startsWith('@') ? await groupId(client, group.slice(1)) : group;
  const answer = await client.usergroups.users.list({ usergroup });
  return answer.users ?? [];
}

async function groupId(client: WebClient, handle: string): Promise<string> {
  const answer = await client.usergroups.list();
  const id = answer.usergroups?.find((group) => group.handle === handle)?.id;
  if (id === undefined) throw new NoSuchGroup(`no user group @${handle}`);
  return id;
}

type Remembered = { users: readonly string[]; atMs: number };

async function readCache(deps: DirectoryDeps, group: string): Promise<Remembered | undefined> {
  try {
    const text = await deps.cache.get(cacheKey(group));
    if (text === undefined) return undefined;
    const { users, atMs } = JSON.parse(text) as Remembered;
    return { users, atMs };
  } catch {
    // A miss: Slack is asked instead.
    return undefined;
  }
}

async function writeCache(deps: DirectoryDeps, group: string, users: readonly string[]): Promise<void> {
  try {
    await deps.cache.set(cacheKey(group), JSON.stringify({ users, atMs: deps.now() }), usableMs);
  } catch (error) {
    deps.log('warn', 'The members of a user group could not be cached', {}, error);
  }
}

function cacheKey(group: string): string {
  return `slack-group:${group}`;
}
