import type { Request } from 'autocannon';
import { signSlack, slashBody } from '../../test/support/slack-requests.ts';
import { agent, slackSigningSecret, team } from '../stage/names.ts';

/** `answer`: what the acknowledgement holds; nothing when empty. */
export type CommandOrder = { kind: 'command'; words: string; responseUrl: string; answer: string };

/** `/pay` as Slack sends it, signed; `{id}` in the words becomes the request's own. */
export function commandRequest(
  { words, responseUrl }: Pick<CommandOrder, 'words' | 'responseUrl'>,
  id: string,
): Request {
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
