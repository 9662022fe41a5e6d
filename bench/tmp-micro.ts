import { eventBody, secrets, signedHeaders } from './ingest/event.ts';
import { signaturePresets, verifySignature } from '../src/webhooks/signature.ts';
import { parseEvent, defaultEventPointers } from '../src/webhooks/event.ts';
import { readJson } from '../src/webhooks/json.ts';
import { createSealer } from '../src/store/sealed.ts';
import { createLog } from '../src/log.ts';
import { withinDeadline } from '../src/store/deadline.ts';
import { withDeadline } from '../src/deadline.ts';
import { isSigned } from './ingest/signed.ts';
const body = eventBody('payment_failed', 'a-1');
const h = signedHeaders('raw-body', body);
const headers = Object.fromEntries(Object.entries(h).map(([k, v]) => [k, [v]]));
const keys = [secrets['raw-body']];
const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
const parsed = parseEvent(body, defaultEventPointers, { covers: 'body' });
const text = JSON.stringify((parsed as any).event);
const log = createLog({ level: 'info', secrets: ['aaaaaaaaaa','bbbbbbbbbb','cccccccccc','dddddddd','eeeeeeeee'], write: () => undefined, now: () => new Date() });
async function time(name: string, f: () => unknown) {
  for (let i = 0; i < 20000; i++) await f();
  let best = Infinity;
  for (let r = 0; r < 7; r++) { const t = process.cpuUsage(); for (let i = 0; i < 5000; i++) await f(); const u = process.cpuUsage(t); best = Math.min(best, (u.user + u.system) / 5000); }
  console.log(name.padEnd(28), best.toFixed(2), 'µs');
}
await time('floor isSigned', () => isSigned(body, h['x-webhook-signature']));
await time('floor JSON.parse', () => JSON.parse(body.toString()));
await time('verifySignature', () => verifySignature(signaturePresets['raw-body'], keys, { headers, body }, Date.now()));
await time('readJson', () => readJson(body));
await time('parseEvent', () => parseEvent(body, defaultEventPointers, { covers: 'body' }));
await time('seal', () => sealer.seal('outbox:alert:payment_failed/order/a-1', text));
await time('log', () => log('info', 'Webhook kept', { eventKind: 'payment_failed', eventKey: 'payment_failed/order/a', orderReference: 'a', result: 'new', httpStatus: 200, durationMs: 3 }));
await time('withinDeadline', () => withinDeadline(Promise.resolve(1), 2000));
await time('withDeadline', () => withDeadline(2000, () => Promise.resolve(1)));
