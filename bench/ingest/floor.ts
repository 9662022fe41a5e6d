/** The floor: the least that a signed webhook, remembered once before it is answered, can cost on Node. */
import { serveBare } from './bare-server.ts';
import { keepOnceInRedis } from './keep-once.ts';
import { isSigned, peerKey } from './signed.ts';

const keepOnce = keepOnceInRedis(Number(process.env['REDIS_PORT']));
const prefix = process.env['KEY_PREFIX'] ?? '';

serveBare((body, headers) => {
  if (!isSigned(body, headers['x-webhook-signature'])) return undefined;
  return keepOnce(peerKey(prefix, body));
});
