import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogFields } from '../../src/log.ts';
import { defaultEventPointers } from '../../src/webhooks/event.ts';
import { createWebhookHandler, type WebhookNeeds, type WebhookResult } from '../../src/webhooks/route.ts';
import { presetScheme, readSignatureScheme } from '../../src/webhooks/webhook-settings.ts';
import { createVerifier } from '../../src/webhooks/signature.ts';
import { signaturePresetNames } from '../../src/config/webhook-settings.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { ForwardedDelivery } from '../../src/domain/forwarding.ts';
import { connectRaw } from '../http/raw-client.ts';
import { signDelivery } from '../support/sign-delivery.ts';

const nowMs = Date.UTC(2026, 8, 29);
const secret = 'webhook secret canary';
const scheme = presetScheme('timestamped-pairs');

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Line = { level: string; message: string; fields?: LogFields | undefined; error?: unknown };

async function start(overrides: Partial<WebhookNeeds> = {}) {
  const received: { key: string; fingerprint: string }[] = [];
  const unknown: { eventKind: string; key: string; body: Buffer }[] = [];
  const counts: WebhookResult[] = [];
  const lines: Line[] = [];
  const counted = Promise.withResolvers<void>();
  const handle = createWebhookHandler({
    scheme,
    secrets: [secret],
    pointers: defaultEventPointers,
    receive: async (event, fingerprint) => {
      const isKnown = received.some(({ key }) => key === event.key);
      received.push({ key: event.key, fingerprint });
      return isKnown ? 'duplicate' : 'new';
    },
    keepUnknown: async (delivery) => void unknown.push(delivery),
    count: (result) => {
      counts.push(result);
      counted.resolve();
    },
    log: (level, message, fields, error) => void lines.push({ level, message, fields, error }),
    now: () => nowMs,
    ...overrides,
  });
  const failures: unknown[] = [];
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => failures.push(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    expect(failures).toEqual([]);
  });
  const { port } = server.address() as AddressInfo;
  return { port, received, unknown, counts, lines, counted: counted.promise };
}

type Reply = { status: number; headers: IncomingHttpHeaders; body: unknown };

async function post(
  port: number,
  body: Buffer,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Reply> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method,
    headers: { 'content-type': 'application/json', ...headers },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: text === '' ? '' : JSON.parse(text),
  };
}

function signed(body: Buffer): Record<string, string> {
  return signDelivery(scheme, secret, body, nowMs);
}

function eventBody(fields: Record<string, unknown> = {}): Buffer {
  return Buffer.from(
    JSON.stringify({
      event_type: 'payment_failed',
      data: { order: { orderReference: 'ref-1', amount: '5000.00', ...fields }, transactionId: 'tx-canary' },
    }),
  );
}

function rawRequest(body: Buffer, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    'POST / HTTP/1.1',
    'host: x',
    'content-type: application/json',
    ...lines,
    '',
    body.toString('latin1'),
  ].join('\r\n');
}

describe('the webhook route', () => {
  it('answers a new event and its repeat with 200 and what was stored', async () => {
    const { port, counts, received } = await start();
    const body = eventBody();
    const first = await post(port, body, signed(body));
    expect(first).toMatchObject({
      status: 200,
      body: { eventType: 'payment_failed', orderReference: 'ref-1', result: 'new' },
    });
    const again = await post(port, body, signed(body));
    expect(again).toMatchObject({ status: 200, body: { result: 'duplicate' } });
    expect(counts).toEqual(['new', 'duplicate']);
    expect(received[0]).toEqual(received[1]);
  });

  it.each([
    ['of another kind', Buffer.from('{"event":"payment_reversed","id":"1"}'), 'payment_reversed'],
    ['that is empty', Buffer.alloc(0), 'unreadable'],
    ['that is not JSON', Buffer.from('hello'), 'unreadable'],
  ])('keeps a signed body %s', async (_name, body, eventKind) => {
    const { port, unknown, received } = await start();
    const reply = await post(port, body, signed(body));
    expect(reply).toMatchObject({
      status: 200,
      body: { eventType: eventKind, orderReference: null, result: 'unknown' },
    });
    expect(unknown).toEqual([{ eventKind, key: expect.any(String), body }]);
    expect(received).toEqual([]);
  });

  it('answers every bad signature alike, so that an attacker learns nothing', async () => {
    const { port, lines, received, unknown } = await start();
    const body = eventBody();
    const replies = [
      await post(port, body),
      await post(port, body, { 'x-webhook-signature': 't=1,v1=00' }),
      await post(port, eventBody({ amount: '1.00' }), signed(body)),
      await post(port, body, signDelivery(scheme, 'another', body, nowMs)),
      await post(port, body, signDelivery(scheme, secret, body, nowMs - 600_000)),
    ];
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(new Set(replies.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set(['{"error":"unauthorized"}']),
    );
    expect(lines.map(({ message }) => message)).toEqual([
      'Webhook refused: no signature header (x-webhook-signature, x-signature)',
      'Webhook refused: the timestamp is too old',
      'Webhook refused: the signature is not one of ours',
      'Webhook refused: the signature is not one of ours',
      'Webhook refused: the timestamp is too old',
    ]);
    for (const { fields } of lines)
      expect(fields).toMatchObject({ fix: expect.stringContaining('explain-delivery') });
    expect([received, unknown]).toEqual([[], []]);
  });

  it('logs at most ten lines about a flood of refused deliveries, and one about each stored delivery', async () => {
    const { port, lines } = await start();
    const body = eventBody();
    for (let count = 0; count < 15; count += 1) await post(port, body);
    await post(port, body, signed(body));
    expect(lines.map(({ message }) => message.split(':')[0])).toEqual([
      ...Array.from({ length: 10 }, () => 'Webhook refused'),
      'Webhook kept',
    ]);
  });

  it('refuses a repeated signature header, which node:http would join', async () => {
    const { port, lines } = await start();
    const client = await connectRaw(port);
    const body = eventBody();
    const value = signed(body)['x-webhook-signature'];
    const twice = `${value}\r\nx-webhook-signature: ${value}`;
    client.write(rawRequest(body, { 'content-length': String(body.length), 'x-webhook-signature': twice }));
    expect(await client.receive('unauthorized')).toContain('HTTP/1.1 401');
    client.socket.destroy();
    expect(lines[0]?.message).toBe('Webhook refused: header x-webhook-signature is there more than once');
  });

  it.each(['GET', 'HEAD', 'OPTIONS'])('refuses %s and names the method it takes', async (method) => {
    const { port, counts } = await start();
    const reply = await post(port, Buffer.alloc(0), {}, method);
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(counts).toEqual(['bad_method']);
  });

  it.each([
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/jsonp' }, 415],
    [{ 'content-type': '' }, 415],
    [{ 'content-encoding': 'gzip' }, 415],
    [{ 'content-encoding': '' }, 200],
    [{ 'content-type': 'application/json; charset=utf-8' }, 200],
    [{ 'content-type': 'Application/JSON' }, 200],
    [{ 'content-type': 'application/cloudevents+json' }, 200],
  ])('answers a body under %o with %i', async (headers, status) => {
    const { port } = await start();
    const body = eventBody();
    expect((await post(port, body, { ...signed(body), ...headers })).status).toBe(status);
  });

  it('accepts a body of exactly the limit, and answers 413 to one that grows beyond it', async () => {
    const { port, counts } = await start();
    const bare = eventBody({ padding: '' });
    const whole = eventBody({ padding: 'x'.repeat(256 * 1024 - bare.length) });
    expect(whole.length).toBe(256 * 1024);
    expect((await post(port, whole, signed(whole))).status).toBe(200);
    const body = eventBody({ padding: 'x'.repeat(2_000_000) });
    const reply = await post(port, body, { ...signed(body), 'transfer-encoding': 'chunked' });
    expect(reply).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(counts).toEqual(['new', 'too_large']);
  });

  it('refuses a body that is too large by its content-length, before reading it', async () => {
    const { port, counts } = await start();
    const client = await connectRaw(port);
    client.write(rawRequest(Buffer.alloc(0), { 'content-length': String(256 * 1024 + 1) }));
    const answer = await client.receive('262144 bytes');
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*connection: close/is);
    client.socket.destroy();
    expect(counts).toEqual(['too_large']);
  });

  it('closes the connection after 413, handles no pipelined request, and serves the next connection', async () => {
    const { port, counts } = await start();
    const client = await connectRaw(port);
    const large = Buffer.from(`{"x":"${'y'.repeat(256 * 1024)}"}`);
    const refused = rawRequest(large, { 'content-length': String(large.length) });
    client.write(refused);
    const received = await client.receiveAll();
    expect(received).toContain('HTTP/1.1 413');
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(counts).toEqual(['too_large']);

    const pipelined = await connectRaw(port);
    pipelined.write(refused.repeat(3));
    expect((await pipelined.receiveAll()).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413']);

    const body = Buffer.from('{"event":"x"}');
    expect((await post(port, body, signed(body))).status).toBe(200);
  });

  it('survives a sender that breaks off, and stores nothing', async () => {
    const { port, counts, counted, received } = await start();
    const body = eventBody();
    const client = await connectRaw(port);
    client.write(
      rawRequest(body.subarray(0, 10), { ...signed(body), 'content-length': String(body.length) }),
    );
    client.socket.destroy();
    await counted;
    expect(counts).toEqual(['aborted']);
    expect((await post(port, body, signed(body))).status).toBe(200);
    expect(received).toHaveLength(1);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('store away'))],
    [
      'throws',
      () => {
        throw new Error('store away');
      },
    ],
    ['never answers', () => new Promise<never>(() => {})],
  ])('answers 503, so that the sender retries, if storing the event %s', async (_name, fail) => {
    const { port, counts, lines } = await start({
      receive: fail,
      keepUnknown: fail,
      keepTimeoutMs: 50,
    });
    for (const body of [eventBody(), Buffer.from('{"event":"other"}')]) {
      expect(await post(port, body, signed(body))).toMatchObject({
        status: 503,
        headers: { 'retry-after': '5' },
        body: { error: 'not kept, send it again' },
      });
    }
    expect(counts).toEqual(['unavailable', 'unavailable']);
    expect(lines.map(({ level }) => level)).toEqual(['error', 'error']);
    expect(lines[0]?.error).toBeInstanceOf(Error);
  });

  it('logs no secret, no body and no transaction id', async () => {
    const { port, lines } = await start();
    const body = eventBody({ customerEmail: 'jane@example.com' });
    await post(port, body, signed(body));
    await post(port, body, { 'x-webhook-signature': 't=1,v1=canary-signature' });
    expect(lines).toHaveLength(2);
    const text = JSON.stringify(lines);
    for (const canary of ['canary', 'jane@example.com', '5000.00', signed(body)['x-webhook-signature']]) {
      expect(text).not.toContain(canary);
    }
    expect(lines[0]?.fields).toEqual({
      eventKind: 'payment_failed',
      eventKey: 'payment_failed/order/ref-1',
      orderReference: 'ref-1',
      result: 'new',
      httpStatus: 200,
      durationMs: 0,
    });
  });
});

function keeper(fails = false) {
  const forwards: ForwardedDelivery[] = [];
  return {
    forwards,
    forward: async (delivery: ForwardedDelivery) => {
      if (fails) throw new StoreUnavailable('away');
      forwards.push(delivery);
    },
  };
}

describe('a delivery to forward to the merchant’s own backend', () => {
  it.each(signaturePresetNames)(
    'keeps, signed as %s, everything that a signature check needs',
    async (preset) => {
      const own = presetScheme(preset);
      const key = own.secretEncoding === 'whsec' ? Buffer.from(secret).toString('base64') : secret;
      const { forwards, forward } = keeper();
      const { port } = await start({ scheme: own, secrets: [key], forward });
      const body = eventBody({ orderId: 'id-1' });
      const headers = { ...signDelivery(own, key, body, nowMs), 'x-other': 'not signed', cookie: 'a=b' };
      expect((await post(port, body, headers)).status).toBe(200);
      const [sent] = forwards;
      const carried = Object.fromEntries(sent?.headers ?? []);
      expect(sent?.body.equals(body)).toBe(true);
      expect(createVerifier(own, [key])({ headers: carried, body: sent?.body ?? body }, nowMs).kind).toBe(
        'valid',
      );
      expect(carried['content-type']).toBe('application/json');
      expect(Object.keys(carried)).not.toContain('x-other');
      expect(Object.keys(carried)).not.toContain('cookie');
    },
  );

  it('that cannot be stored is answered 503, so that its sender retries for both', async () => {
    const { port, received, counts } = await start({ forward: keeper(true).forward });
    const body = eventBody();
    expect((await post(port, body, signed(body))).status).toBe(503);
    expect(received).toHaveLength(1);
    expect(counts).toEqual(['unavailable']);
  });

  it('that was forwarded already is refused before its body is read; a bot that doesn’t forward accepts it', async () => {
    const { forwards, forward } = keeper();
    const forwarding = await start({ forward });
    const body = eventBody();
    const round = { ...signed(body), 'payops-forwarded': '1' };
    expect((await post(forwarding.port, body, round)).status).toBe(400);
    expect([forwarding.received, forwards, forwarding.counts]).toEqual([[], [], ['loop']]);
    expect((await post((await start()).port, body, round)).status).toBe(200);
  });

  it('is ordered by its reference, signed or not, or by its event’s key if it has none', async () => {
    const { forwards, forward } = keeper();
    const all = await start({ forward });
    for (const fields of [{ orderReference: 'ref-7' }, { orderReference: undefined }]) {
      const body = eventBody(fields);
      await post(all.port, body, signed(body));
    }
    const own = readSignatureScheme({
      webhookSignaturePreset: 'field-concatenation',
      webhookSignedTemplate: '{json:/event_type}:{json:/data/transactionId}:{header:x-webhook-timestamp}',
    });
    if (!own.ok || !own.value) throw new Error('unreadable');
    const some = await start({ scheme: own.value, forward });
    const body = eventBody({ orderReference: 'ref-8' });
    await post(some.port, body, signDelivery(own.value, secret, body, nowMs));
    expect(forwards.map(({ orderedBy }) => orderedBy)).toEqual([
      'ref-7',
      expect.stringMatching(/^payment_failed\/transaction\//),
      'ref-8',
    ]);
  });
});
