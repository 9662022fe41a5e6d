/** Bolt's ExpressReceiver with Keyv, asked and then told: the usual way, and not atomic. */
import KeyvRedis from '@keyv/redis';
import bolt from '@slack/bolt';
import express from 'express';
import { Keyv } from 'keyv';
import { isSigned, peerKey } from './signed.ts';

const prefix = process.env['KEY_PREFIX'] ?? '';
const keyv = new Keyv(new KeyvRedis(`redis://127.0.0.1:${process.env['REDIS_PORT']}`), {
  namespace: '',
  ttl: 86_400_000,
});
const receiver = new bolt.ExpressReceiver({ signingSecret: 'unused' });
receiver.router.post('/webhooks/payments', express.raw({ type: '*/*' }), (request, response) => {
  const body = request.body as Buffer;
  if (!isSigned(body, request.headers['x-webhook-signature'])) {
    response.status(401).end();
    return;
  }
  void remember(peerKey(prefix, body)).then((isNew) =>
    response.json({ result: isNew ? 'new' : 'duplicate' }),
  );
});
const app = new bolt.App({ receiver, token: 'xoxb-unused', tokenVerificationEnabled: false });
await app.start(Number(process.env['PORT']));

async function remember(key: string): Promise<boolean> {
  if ((await keyv.get(key)) !== undefined) return false;
  await keyv.set(key, 1);
  return true;
}
