import type { Caller } from '../command.ts';
import { refusalMessage } from '../words/error-message.ts';
import type { SlackMessage } from '../kit/message.ts';
import type { Identity } from '../workspace.ts';

/** What every payload of a press, a form or a typeahead says of the person. */
type Payload = {
  user: { id: string; team_id?: string };
  team: { id: string } | null;
  channel?: { id: string };
};

export function callerOf({ user, team, channel }: Payload, from: NonNullable<Caller['from']>): Caller {
  const teamId = user.team_id ?? team?.id;
  return {
    userId: user.id,
    ...(teamId === undefined ? {} : { teamId }),
    ...(channel === undefined ? {} : { channelId: channel.id }),
    from,
  };
}

/** In a shared channel people of other workspaces see the bot's buttons. In an organisation one person has many workspaces. */
export function isStranger(caller: Caller, own: Identity | undefined): boolean {
  if (!own?.teamId || own.enterpriseId !== undefined || caller.teamId === undefined) return false;
  return caller.teamId !== own.teamId;
}

export function strangerMessage(): SlackMessage {
  return refusalMessage({
    what: 'use from another workspace',
    rule: 'Payments are worked with only by people of the workspace the bot is installed in',
    whoCan: 'a member of that workspace',
  });
}
