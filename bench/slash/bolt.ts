/**
 * Bolt's HTTPReceiver with one listener. ANSWER is what it says: along with its acknowledgement, or, when RESPOND is 1,
 * through the response_url behind an empty one.
 */
import bolt, { type RespondArguments } from '@slack/bolt';
import { slackSigningSecret } from '../stage/names.ts';

const receiver = new bolt.HTTPReceiver({ signingSecret: slackSigningSecret });
const app = new bolt.App({
  receiver,
  authorize: () => Promise.resolve({ botToken: 'xoxb-unused' }),
  convoStore: false,
});
const answer = JSON.parse(process.env['ANSWER'] ?? '') as RespondArguments;
const responds = process.env['RESPOND'] === '1';
app.command('/pay', async ({ ack, respond }) => {
  if (!responds) return await ack(answer);
  await ack();
  await respond(answer);
});
await app.start(Number(process.env['PORT']));
