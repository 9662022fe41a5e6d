import type { Request } from 'autocannon';
import { signSlack, slashBody } from '../../test/support/slack-requests.ts';
import { agent, slackSigningSecret, team } from '../stage/names.ts';

export type CommandOrder = { kind: 'command'; words: string; responseUrl: string };

/** `/pay` as Slack sends it, signed; `{id}` in the words becomes the request's own. */
export function commandRequest({ words, responseUrl }: CommandOrder, id: string): Request {
  const typed = {
    text: words.replace('{id}', id),
    userId: agent,
    teamId: team,
    triggerId: id,
    responseUrl,
  };
  const { headers, body } = signSlack(slashBody(typed), { secret: slackSigningSecret });
  return { method: 'POST', path: '/slack/events', headers, body };
}
