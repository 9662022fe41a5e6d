import type { Request } from 'autocannon';
import { signSlack, slashBody } from '../../test/support/slack-requests.ts';
import { credentials, teamId, userIds } from '../../src/simulators/slack/directory.ts';

/** `answer`: the acknowledgement's expected content; empty: none. */
export type CommandOrder = { kind: 'command'; words: string; responseUrl: string; answer: string };

/** `/pay` as Slack sends it, signed; `{id}` in the words becomes the request's own id. */
export function commandRequest(
  { words, responseUrl }: Pick<CommandOrder, 'words' | 'responseUrl'>,
  id: string,
): Request {
  const typed = {
    text: words.replace('{id}', id),
    userId: userIds.agent,
    teamId,
    triggerId: id,
    responseUrl,
  };
  const { headers, body } = signSlack(slashBody(typed), { secret: credentials.signingSecret });
  return { method: 'POST', path: '/slack/events', headers, body };
}
