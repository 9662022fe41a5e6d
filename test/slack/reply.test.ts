import { afterEach, describe, expect, it } from 'vitest';
import { createReply } from '../../src/slack/reply.ts';
import { createClients } from '../../src/slack/workspace.ts';

const message = { text: 'Paid', blocks: [] };
let logged: string[] = [];
afterEach(() => {
  logged = [];
});

function log(_level: string, said: string): void {
  logged.push(said);
}

/** The ways of answering that were tried, in order, if the response_url gives this answer. */
async function tellsBy(answered: Response): Promise<string[]> {
  const ways: string[] = [];
  const { interactive: client } = createClients({ botToken: 'x', slackApiUrl: 'http://127.0.0.1:9/' }, log);
  client.chat.postMessage = () => {
    ways.push('direct message');
    return Promise.resolve({ ok: true });
  };
  const respond = (): Promise<Response> => {
    ways.push('response_url');
    return Promise.resolve(answered);
  };
  await createReply({ userId: 'U1', respond }, client, log)(message);
  return ways;
}

describe('an answer through a response_url', () => {
  it.each(['ok', '', '{"ok":true}', 'null'])('is sent once if Slack says %j', async (body) => {
    expect(await tellsBy(new Response(body))).toEqual(['response_url']);
    expect(logged).toEqual([]);
  });

  it('goes by direct message if the response_url refuses it with status 200', async () => {
    const body = JSON.stringify({ ok: false, error: 'used_url' });
    expect(await tellsBy(new Response(body))).toEqual(['response_url', 'direct message']);
    expect(logged).toEqual(['An answer was refused; the next way is tried']);
  });
});
