import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import type { Refused } from '../command.ts';
import { createRemembered, type Remembered, type RememberDeps } from '../remembered.ts';
import { readSlackError, usersReadFix } from '../slack-error.ts';
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

export type NoMember = 'deactivated' | 'bot' | 'other_workspace' | 'guest' | 'unknown_account';

/** What accounts are, by user id. */
export function createPeople(deps: RememberDeps & { client: WebClient }): Remembered<Account> {
  return createRemembered<Account>(deps, {
    prefix: 'slack-person:',
    what: 'What kind of account somebody has',
    ask: (userId) => fetchAccount(deps.client, userId),
  });
}

/** Slack answers with these for an account that is not of this workspace, or of none. */
const nobodyHere = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

/** Throws what Slack answers with, unless that says that there is no such account. */
export async function fetchAccount(client: WebClient, userId: string): Promise<Account> {
  try {
    return readAccount(await client.users.info({ user: userId }));
  } catch (error) {
    const problem = readSlackError(error);
    if (problem.kind === 'refused' && nobodyHere.has(problem.slackError)) return { isUnknown: true };
    throw error;
  }
}

/** Slackbot is a user like any other by what Slack says of it. */
const slackbot = 'USLACKBOT';

function readAccount({ user }: UsersInfoResponse): Account {
  // A success without the account it is about says nothing that anybody could be let through by.
  if (!user) return { isUnknown: true };
  const { team_id: team, enterprise_user: grid } = user;
  const name = user.profile?.display_name || user.profile?.real_name || user.name;
  return {
    ...(name === undefined ? {} : { name }),
    isDeactivated: user.deleted === true,
    isBot: user.is_bot === true || user.is_workflow_bot === true || user.id === slackbot,
    isGuest: user.is_restricted === true || user.is_ultra_restricted === true,
    isForeign: user.is_stranger === true,
    ...(team === undefined ? {} : { team }),
    ...(grid?.enterprise_id === undefined ? {} : { organisation: grid.enterprise_id }),
    ...(grid?.teams === undefined ? {} : { teams: grid.teams }),
  };
}

/** Why the account is no member's, whatever role lists it; undefined when it is one's. */
export function noMember(account: Account, own: Identity | undefined): NoMember | undefined {
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

export function noMemberRefusal(kind: NoMember): Refused {
  return { kind: 'refused', ...noMemberWords[kind] };
}

const noMemberWords: Record<NoMember, { rule: string; whoCan: string }> = {
  deactivated: {
    rule: 'This Slack account is deactivated, and no role counts for it',
    whoCan: 'An active member who is in a role; an admin of the workspace can activate the account again',
  },
  bot: {
    rule: 'Bots and workflows may not use this one, whatever role lists them: behind each step must be a person',
    whoCan: 'A member of the workspace who is in a role, by their own hand',
  },
  other_workspace: {
    rule: 'Payments are worked with only by people of the workspace the bot is installed in, whatever role lists others',
    whoCan: 'A member of that workspace who is in a role',
  },
  guest: {
    rule: 'Guests may not use the bot, whatever role lists them',
    whoCan:
      'A full member of the workspace who is in a role; an admin can make a guest a member (Slack › Manage members)',
  },
  unknown_account: {
    rule: 'Slack knows no such account in the bot’s workspace, and no role counts for it',
    whoCan:
      'A member of the workspace who is in a role; the user id in payops.yml may be another workspace’s',
  },
};

/** What must be done when Slack does not say what somebody's account is. */
export function notKnownWho(slackError: string): Refused {
  if (slackError === 'missing_scope') {
    return {
      kind: 'refused',
      rule: 'The bot may not ask Slack who is a guest',
      whoCan: `Everybody in a role, once it may. ${usersReadFix}`,
    };
  }
  return {
    kind: 'refused',
    rule: 'Slack didn’t confirm your account',
    whoCan: 'Try again in a minute; if it stays so, tell the people who run this bot: the log says why',
  };
}
