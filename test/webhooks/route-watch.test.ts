import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { defaultEventPointers } from '../../src/webhooks/event.ts';
import { createWebhookHandler } from '../../src/webhooks/route.ts';
import { signaturePresets, signDelivery } from '../../src/webhooks/signature.ts';

const nowMs = Date.UTC(2026, 8, 29);
const scheme = signaturePresets['raw-body'];
const body = '{"event_type":"payment_failed","data":{"order":{"orderReference":"ref-1"}}}';

it('tells whoever watches of each signature that was judged, kept or not, and of nothing else', async () => {
  const seen: string[] = [];
  const handle = createWebhookHandler({
    scheme,
    secrets: ['ours'],
    pointers: defaultEventPointers,
    receive: () => Promise.reject(new Error('store away')),
    keepUnknown: () => Promise.resolve(),
    count: () => undefined,
    watch: {
      accepted: () => void seen.push('accepted'),
      refused: (delivery, why, atMs) =>
        void seen.push(
          `refused ${delivery.body.toString()} ${String(delivery.headers['x-signature'])} ${why} ${atMs}`,
        ),
    },
    log: () => undefined,
    now: () => nowMs,
  });
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  async function post(headers: Record<string, string>): Promise<number> {
    const all = { 'content-type': 'application/json', ...headers };
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: all, body });
    await answer.arrayBuffer();
    return answer.status;
  }
  try {
    expect(await post(signDelivery(scheme, 'ours', Buffer.from(body), nowMs))).toBe(503);
    expect(await post({ 'x-signature': 'forged' })).toBe(401);
    expect(await post({ 'content-type': 'text/plain' })).toBe(415);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  expect(seen).toEqual(['accepted', `refused ${body} forged the signature is not one of ours ${nowMs}`]);
});
