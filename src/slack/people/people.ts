import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import { withoutUndefined } from '../../domain/json.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';
import type { Identity } from '../workspace.ts';

/** What Slack says of an account, as far as it decides who is let near money, and what others read as its name. */
export type Account = {
  name?: string;
  isDeactivated?: boolean;
  isBot?: boolean;
  isGuest?: boolean;
  /** Slack says itself that it is of another organisation. */
  isForeign?: boolean;
  /** Slack knows no such account here. */
  isUnknown?: boolean;
  team?: string;
  /** Its organisation, and the workspaces of that it belongs to (Enterprise Grid). */
  organisation?: string;
  teams?: readonly string[];
};

/** Slack answers with these for an account that is not of this workspace, or of none. */
const nobodyHere = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

/** Throws what Slack answers with, unless that says that there is no such account. */
export async function fetchAccount(client: WebClient, userId: string): Promise<Account> {
  try {
    return readAccount(await client.users.info({ user: userId }));
  } catch (error) {
    if (nobodyHere.has(slackErrorWord(readSlackError(error)))) return { isUnknown: true };
    throw error;
  }
}

/** Slackbot is a user like any other by what Slack says of it. */
const slackbot = 'USLACKBOT';

function readAccount({ user }: UsersInfoResponse): Account {
  // A success without the account it is about says nothing that anybody could be let through by.
  if (!user) return { isUnknown: true };
  return withoutUndefined({
    name: user.profile?.display_name || user.profile?.real_name || user.name,
    isDeactivated: user.deleted === true,
    isBot: user.is_bot === true || user.is_workflow_bot === true || user.id === slackbot,
    isGuest: user.is_restricted === true || user.is_ultra_restricted === true,
    isForeign: user.is_stranger === true,
    team: user.team_id,
    organisation: user.enterprise_user?.enterprise_id,
    teams: user.enterprise_user?.teams,
  });
}

/** Why an account is no member’s, as a refusal tells it. */
export const noMemberRules = {
  unknown_account: 'Slack knows no such account in the bot’s workspace',
  deactivated: 'This Slack account is deactivated',
  bot: 'Bots and workflows can’t use this bot, even when a role lists them',
  other_workspace: 'Only people of the bot’s own workspace can use it, even when a role lists others',
  guest: 'Guests can’t use the bot, even when a role lists them',
} as const;

/** Undefined: it is a member's. */
export function noMember(
  account: Account,
  own: Identity | undefined,
): keyof typeof noMemberRules | undefined {
  if (account.isUnknown) return 'unknown_account';
  if (account.isDeactivated) return 'deactivated';
  if (account.isBot) return 'bot';
  if (account.isForeign || isOfOther(account, own)) return 'other_workspace';
  return account.isGuest ? 'guest' : undefined;
}

/** In an organisation one person has many workspaces; without one the account's must be the bot's. */
function isOfOther({ team, organisation, teams = [] }: Account, own: Identity | undefined): boolean {
  if (own?.teamId === undefined || team === undefined || team === own.teamId) return false;
  if (teams.includes(own.teamId)) return false;
  return own.enterpriseId === undefined || (own.enterpriseId !== organisation && own.enterpriseId !== team);
}

/** Who is in a user group. `empty`: why it counts as having nobody, in Slack's word, until somebody changes something. */
export type Members = { users: readonly string[]; empty?: string };

/**
 * Of a user group by `@handle` or id. Throws what Slack answers with, unless it refuses for good: a workspace without
 * user groups, or a missing scope, makes the group count as empty.
 */
export async function membersOf(client: WebClient, group: string): Promise<Members> {
  try {
    const usergroup = group.startsWith('@') ? await groupId(client, group.slice(1)) : group;
    if (usergroup === undefined) return { users: [], empty: 'no_such_subteam' };
    const { users = [] } = await client.usergroups.users.list({ usergroup });
    return { users };
  } catch (error) {
    const empty = slackErrorWord(readSlackError(error));
    if (emptyGroupFix(empty) === '') throw error;
    return { users: [], empty };
  }
}

async function groupId(client: WebClient, handle: string): Promise<string | undefined> {
  const { usergroups } = await client.usergroups.list();
  return usergroups?.find((group) => group.handle === handle)?.id;
}

const listUsers = 'list user ids under “users” in payops.yml';

/** What a workspace refuses for good. */
const degrading: Readonly<Record<string, string>> = {
  paid_teams_only: `User groups need a paid Slack plan: ${listUsers} instead.`,
  plan_upgrade_required: `User groups need a paid Slack plan: ${listUsers} instead.`,
  missing_scope: `Give the app the scope usergroups:read and reinstall it, or ${listUsers}.`,
  not_allowed_token_type: `This token may not read user groups: ${listUsers} instead.`,
  unknown_method: `The Slack API at SLACK_API_URL knows no user groups: ${listUsers}.`,
  no_such_subteam: 'No such user group: check its handle or id in payops.yml.',
  subteam_disabled: 'The user group is disabled: enable it in Slack, or take it out of payops.yml.',
};

/** What is to be done about a group that counts as empty, a sentence; nothing for a word that makes none empty. */
export function emptyGroupFix(slackError: string): string {
  return Object.hasOwn(degrading, slackError) ? (degrading[slackError] ?? '') : '';
}
