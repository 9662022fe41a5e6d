import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import { withoutUndefined } from '../../domain/json.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';
import type { Identity } from '../workspace.ts';

/** Slack's account data for permission checks, and its name for others. */
export type Account = {
  name?: string;
  isDeactivated?: boolean;
  isBot?: boolean;
  isGuest?: boolean;
  /** Of another organisation, as Slack says. */
  isForeign?: boolean;
  /** Unknown to Slack here. */
  isUnknown?: boolean;
  team?: string;
  /** Its organisation, and its workspaces there (Enterprise Grid). */
  organisation?: string;
  teams?: readonly string[];
};

/** Slack's answers for an account of another workspace, or of none. */
const nobodyHere = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

/** Throws Slack's error, except for an unknown account. */
export async function fetchAccount(client: WebClient, userId: string): Promise<Account> {
  try {
    return readAccount(await client.users.info({ user: userId }));
  } catch (error) {
    if (nobodyHere.has(slackErrorWord(readSlackError(error)))) return { isUnknown: true };
    throw error;
  }
}

/** To Slack, Slackbot is a user like any other. */
const slackbot = 'USLACKBOT';

function readAccount({ user }: UsersInfoResponse): Account {
  // A success without an account can't let anybody through.
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

/** Why an account is no member’s, for a refusal. */
export const noMemberRules = {
  unknown_account: 'Slack knows no such account in the bot’s workspace',
  deactivated: 'This Slack account is deactivated',
  bot: 'Bots and workflows can’t use this bot, even when a role lists them',
  other_workspace: 'Only people of the bot’s own workspace can use it, even when a role lists others',
  guest: 'Guests can’t use the bot, even when a role lists them',
} as const;

/** Undefined for a member. */
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

/** In an organisation a person has many workspaces; otherwise the account's must be the bot's. */
function isOfOther({ team, organisation, teams = [] }: Account, own: Identity | undefined): boolean {
  if (own?.teamId === undefined || team === undefined || team === own.teamId) return false;
  if (teams.includes(own.teamId)) return false;
  return own.enterpriseId === undefined || (own.enterpriseId !== organisation && own.enterpriseId !== team);
}

/** The members of a user group. `empty`: Slack's reason why the group counts as empty, until somebody fixes that. */
export type Members = { users: readonly string[]; empty?: string };

/**
 * A group's members, by `@handle` or id. Throws Slack's error, except for lasting ones: without user groups or the scope,
 * the group counts as empty.
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

/** Slack's lasting refusals. */
const degrading: Readonly<Record<string, string>> = {
  paid_teams_only: `User groups need a paid Slack plan: ${listUsers} instead.`,
  plan_upgrade_required: `User groups need a paid Slack plan: ${listUsers} instead.`,
  missing_scope: `Give the app the scope usergroups:read and reinstall it, or ${listUsers}.`,
  not_allowed_token_type: `This token may not read user groups: ${listUsers} instead.`,
  unknown_method: `The Slack API at SLACK_API_URL knows no user groups: ${listUsers}.`,
  no_such_subteam: 'No such user group: check its handle or id in payops.yml.',
  subteam_disabled: 'The user group is disabled: enable it in Slack, or take it out of payops.yml.',
};

/** How to fix a group that counts as empty, a sentence; empty for any other error. */
export function emptyGroupFix(slackError: string): string {
  return Object.hasOwn(degrading, slackError) ? (degrading[slackError] ?? '') : '';
}
