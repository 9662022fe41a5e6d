/** The floor with standardwebhooks' own check in place of the hand-written one. */
import { Webhook } from 'standardwebhooks';
import { serveBare } from './bare-server.ts';
import { secrets } from './event.ts';
import { keepOnceInRedis } from './keep-once.ts';
import { peerKey } from './signed.ts';

const keepOnce = keepOnceInRedis(Number(process.env['REDIS_PORT']));
const prefix = process.env['KEY_PREFIX'] ?? '';
const webhook = new Webhook(secrets['standard-webhooks']);

serveBare((body, headers) => {
  try {
    webhook.verify(body, headers as Record<string, string>);
  } catch {
    return undefined;
  }
  return keepOnce(peerKey(prefix, body));
});
