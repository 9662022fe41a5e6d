import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import { withoutUndefined } from '../../domain/json.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';
import type { Identity } from '../workspace.ts';

/** A person's Slack account: the name, and what permission checks need. */
export type SlackAccount = {
  name?: string;
  isDeactivated?: boolean;
  isBot?: boolean;
  isGuest?: boolean;
  /** Slack's `is_stranger`: of another workspace, and in no channel shared with the bot. */
  isForeign?: boolean;
  /** Slack knows no such account in this workspace. */
  isUnknown?: boolean;
  team?: string;
  /** Enterprise Grid: the account's organisation, and all its workspaces there. */
  organisation?: string;
  teams?: readonly string[];
};

/** Slack's errors for an account that this workspace doesn't have. */
const unknownAccountErrors = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

/** Throws Slack's error, except for an unknown account. */
export async function fetchAccount(client: WebClient, userId: string): Promise<SlackAccount> {
  try {
    return readAccount(await client.users.info({ user: userId }));
  } catch (error) {
    if (unknownAccountErrors.has(slackErrorWord(readSlackError(error)))) return { isUnknown: true };
    throw error;
  }
}

/** Slack doesn't mark Slackbot as a bot. */
const slackbot = 'USLACKBOT';

function readAccount({ user }: UsersInfoResponse): SlackAccount {
  // An answer without an account must let nobody through.
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

/** Why an account belongs to no member of the workspace, for a refusal. */
export const noMemberRules = {
  unknown_account: 'Slack knows no such account in the bot’s workspace',
  deactivated: 'This Slack account is deactivated',
  bot: 'Bots and workflows can’t use this bot, even when a role lists them',
  other_workspace: 'Only people of the bot’s own workspace can use it, even when a role lists others',
  guest: 'Guests can’t use the bot, even when a role lists them',
} as const;

/** Why the account belongs to no member of the workspace; undefined for a member's. */
export function whyNoMember(
  account: SlackAccount,
  own: Identity | undefined,
): keyof typeof noMemberRules | undefined {
  if (account.isUnknown) return 'unknown_account';
  if (account.isDeactivated) return 'deactivated';
  if (account.isBot) return 'bot';
  if (account.isForeign || isOfOther(account, own)) return 'other_workspace';
  return account.isGuest ? 'guest' : undefined;
}

/** Without an organisation the account's workspace must be the bot's; with one, any workspace of the bot's organisation does. */
function isOfOther({ team, organisation, teams = [] }: SlackAccount, own: Identity | undefined): boolean {
  if (own?.teamId === undefined || team === undefined || team === own.teamId) return false;
  if (teams.includes(own.teamId)) return false;
  return own.enterpriseId === undefined || (own.enterpriseId !== organisation && own.enterpriseId !== team);
}

/** The members of a user group. `empty`: Slack's error, which makes the group count as empty until somebody fixes it. */
export type Members = { users: readonly string[]; empty?: string };

/** A group's members, by `@handle` or id. Throws Slack's error, unless it lasts until somebody fixes it: see `Members`. */
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

/** Slack's lasting errors for a user group, and how to fix each. */
const emptyGroupFixes: Readonly<Record<string, string>> = {
  paid_teams_only: `User groups need a paid Slack plan: ${listUsers} instead.`,
  plan_upgrade_required: `User groups need a paid Slack plan: ${listUsers} instead.`,
  missing_scope: `Give the app the scope usergroups:read and reinstall it, or ${listUsers}.`,
  not_allowed_token_type: `This token may not read user groups: ${listUsers} instead.`,
  unknown_method: `The Slack API at SLACK_API_URL knows no user groups: ${listUsers}.`,
  no_such_subteam: 'No such user group: check its handle or id in payops.yml.',
  subteam_disabled: 'The user group is disabled: enable it in Slack, or take it out of payops.yml.',
};

/** How to fix a group that counts as empty, as a sentence; '' for an error that may pass. */
export function emptyGroupFix(slackError: string): string {
  return Object.hasOwn(emptyGroupFixes, slackError) ? (emptyGroupFixes[slackError] ?? '') : '';
}
