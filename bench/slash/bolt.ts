/** Bolt's HTTPReceiver with one listener, which acknowledges and, when RESPOND is 1, also answers, as ours does. */
import bolt from '@slack/bolt';
import { slackSigningSecret } from '../stage/names.ts';

const receiver = new bolt.HTTPReceiver({ signingSecret: slackSigningSecret });
const app = new bolt.App({
  receiver,
  authorize: () => Promise.resolve({ botToken: 'xoxb-unused' }),
  convoStore: false,
});
const responds = process.env['RESPOND'] === '1';
app.command('/pay', async ({ ack, respond }) => {
  await ack();
  if (responds) await respond({ text: 'Here is what I can do.', response_type: 'ephemeral' });
});
await app.start(Number(process.env['PORT']));
