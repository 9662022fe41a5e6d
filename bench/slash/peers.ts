/** Other programs that acknowledge a slash command; PEER selects one. They listen on PORT. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { RespondArguments } from '@slack/bolt';
import { credentials } from '../../src/simulators/slack/directory.ts';

const { PORT: port, PEER: peer, ANSWER: said = '', RESPOND: responds } = process.env;
const { signingSecret } = credentials;
await (peer === 'floor' ? serveFloor() : serveBolt());

/** node:http with a hand-written check of Slack's signature, and an empty acknowledgement. */
function serveFloor(): void {
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const at = String(request.headers['x-slack-request-timestamp']);
      const expected = createHmac('sha256', signingSecret).update(`v0:${at}:${body}`).digest('hex');
      const given = Buffer.from(String(request.headers['x-slack-signature']));
      const wanted = Buffer.from(`v0=${expected}`);
      const isFresh = Math.abs(Date.now() / 1_000 - Number(at)) < 300;
      const holds = isFresh && given.length === wanted.length && timingSafeEqual(given, wanted);
      const command = new URLSearchParams(body).get('command');
      response.writeHead(holds && command === '/pay' ? 200 : 401).end();
    });
  }).listen(Number(port), '127.0.0.1');
}

/**
 * Bolt's HTTPReceiver with one listener. Says ANSWER in the acknowledgement, or, if RESPOND is 1, through the
 * response_url after an empty one.
 */
async function serveBolt(): Promise<void> {
  const { default: bolt } = await import('@slack/bolt');
  const app = new bolt.App({
    receiver: new bolt.HTTPReceiver({ signingSecret }),
    authorize: () => Promise.resolve({ botToken: 'xoxb-unused' }),
    convoStore: false,
  });
  const answer = JSON.parse(said) as RespondArguments;
  app.command('/pay', async ({ ack, respond }) => {
    if (responds !== '1') return await ack(answer);
    await ack();
    await respond(answer);
  });
  await app.start(Number(port));
}
