import type { WebClient } from '@slack/web-api';
import { createRemembered, type Remembered, type RememberDeps } from '../remembered.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';

/** Who is in a user group. `empty`: why it counts as having nobody, in Slack's word, until somebody changes something. */
export type Members = { users: readonly string[]; empty?: string };

/**
 * Members of user groups, by `@handle` or id. A workspace without user groups, or a missing scope, makes a group
 * count as empty, with one warning that names the fix.
 */
export function createUserGroups(deps: RememberDeps & { client: WebClient }): Remembered<Members> {
  const warned = new Set<string>();

  function warnOnce(group: string, slackError: string): void {
    if (warned.has(`${group} ${slackError}`)) return;
    warned.add(`${group} ${slackError}`);
    const fix = emptyGroupFix(slackError);
    deps.log('warn', `User group ${group} counts as empty: ${slackError}`, { slackError, fix });
  }

  return createRemembered<Members>(deps, {
    prefix: 'slack-group-members:',
    what: 'The members of a user group',
    async ask(group) {
      const members = await membersOf(deps.client, group);
      if (members.empty !== undefined) warnOnce(group, members.empty);
      return members;
    },
  });
}

/** Asks Slack now. Throws what Slack answers with, unless it refuses for good: then the group counts as empty. */
export async function membersOf(client: WebClient, group: string): Promise<Members> {
  try {
    return { users: await fetchMembers(client, group) };
  } catch (error) {
    const empty = error instanceof NoSuchGroup ? 'no_such_subteam' : slackErrorWord(readSlackError(error));
    if (!Object.hasOwn(degrading, empty)) throw error;
    return { users: [], empty };
  }
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

/** What is to be done about a group that counts as empty, a sentence. */
export function emptyGroupFix(slackError: string): string {
  return degrading[slackError] ?? '';
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
