/** As Bolt's documentation has it: a custom route of its HTTPReceiver, and Redis through @keyv/redis's client. */
import { createClient } from '@keyv/redis';
import bolt from '@slack/bolt';
import { buffer } from 'node:stream/consumers';
import { isSigned, peerKey } from './signed.ts';

const prefix = process.env['KEY_PREFIX'] ?? '';
const redis = createClient({ url: `redis://127.0.0.1:${process.env['REDIS_PORT']}` });
await redis.connect();
const receiver = new bolt.HTTPReceiver({
  signingSecret: 'unused',
  customRoutes: [
    {
      path: '/webhooks/payments',
      method: 'POST',
      handler(request, response) {
        void buffer(request).then(async (body) => {
          if (!isSigned(body, request.headers['x-webhook-signature'])) return response.writeHead(401).end();
          const kept = await redis.set(peerKey(prefix, body), '1', { NX: true, PX: 86_400_000 });
          const answer = JSON.stringify({ result: kept === null ? 'duplicate' : 'new' });
          return response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
        });
      },
    },
  ],
});
const app = new bolt.App({ receiver, token: 'xoxb-unused', tokenVerificationEnabled: false });
await app.start(Number(process.env['PORT']));
