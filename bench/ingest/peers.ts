/**
 * Other programs that accept a signed webhook and store it once in Redis before they answer; PEER selects one. Each loads
 * only what it needs. They listen on PORT; their keys begin with KEY_PREFIX.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { webhookSecret } from './event.ts';

type Headers = NodeJS.Dict<string | string[]>;

const { PORT: port, REDIS_PORT: redisPort, KEY_PREFIX: prefix = '', PEER: peer = '' } = process.env;
const rememberMs = 86_400_000;

const peers: Readonly<Record<string, () => Promise<void>>> = {
  /** The least possible cost on Node. */
  async floor() {
    const keepOnce = keepOnceInRedis();
    serveBare((body, headers) => (isSigned(body, headers) ? keepOnce(peerKey(body)) : undefined));
  },

  /**
   * All that the bot must do before it answers, on the floor's server: seals the event, stores it as work of its channel
   * with the store's own script, all of one tick together, and writes a log line. Shows how much of the difference to the
   * floor is this work, and how much is the bot's.
   */
  async 'same-work'() {
    const [{ createLog }, { createScript }, { createSealer }] = await Promise.all([
      import('../../src/log.ts'),
      import('../../src/store/redis-scripts.ts'),
      import('../../src/store/sealed.ts'),
    ]);
    const root = `{${prefix.slice(0, -1)}}`;
    const channel = 'C0ALERTS01';
    const sealer = createSealer([{ id: 'bench', key: Buffer.alloc(32, 'bench') }]);
    const log = createLog({
      level: 'info',
      secrets: [],
      write: (line) => void writeSync(process.stdout.fd, line),
      now: () => new Date(),
    });
    let collected: { record: string[]; resolve: (isNew: boolean) => void }[] = [];
    const asked: typeof collected = [];
    const socket = connectToRedis((line) => {
      // Each record is answered by one number; the lines between are array lengths.
      if (line.startsWith(':')) asked.shift()?.resolve(line === ':1');
    });
    const send = (words: readonly string[]): void =>
      void socket.write(
        `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
      );
    send(['SCRIPT', 'LOAD', createScript.text]);
    function flush(): void {
      const records = collected.flatMap(({ record }) => record);
      asked.push(...collected);
      collected = [];
      send(['EVALSHA', createScript.sha1, '1', root, ...records]);
    }
    serveBare((body, headers) => {
      if (!isSigned(body, headers)) return undefined;
      const key = eventName(body);
      const { data } = JSON.parse(body.toString()) as { data: Record<string, unknown> };
      const { padding: _padding, ...event } = data;
      const sealed = sealer.seal(key, JSON.stringify(event));
      const value = JSON.stringify({ kind: 'alert', channel, receivedAtMs: Date.now(), sealed });
      return new Promise<boolean>((resolve) => {
        if (collected.length === 0) setImmediate(flush);
        collected.push({ record: [key, value, channel, '0', '', ''], resolve });
      }).then((isNew) => {
        log('info', 'Webhook kept', {
          eventKey: key,
          result: isNew ? 'new' : 'duplicate',
          httpStatus: 200,
        });
        return isNew;
      });
    });
  },

  /** As in Bolt's documentation: a custom route of its HTTPReceiver, with @keyv/redis's client. */
  async 'bolt-route'() {
    const [{ default: bolt }, { createClient }] = await Promise.all([
      import('@slack/bolt'),
      import('@keyv/redis'),
    ]);
    const redis = createClient({ url: `redis://127.0.0.1:${redisPort}` });
    await redis.connect();
    const receiver = new bolt.HTTPReceiver({
      signingSecret: 'unused',
      customRoutes: [
        {
          path: '/webhooks/payments',
          method: 'POST',
          handler(request, response) {
            void buffer(request).then(async (body) => {
              if (!isSigned(body, request.headers)) return response.writeHead(401).end();
              const kept = await redis.set(peerKey(body), '1', { NX: true, PX: rememberMs });
              response.writeHead(200, { 'content-type': 'application/json' });
              return response.end(answerOf(kept !== null));
            });
          },
        },
      ],
    });
    await new bolt.App({ receiver, token: 'xoxb-unused', tokenVerificationEnabled: false }).start(
      Number(port),
    );
  },

  /** Bolt's ExpressReceiver with Keyv, which reads and then writes: the usual way, and not atomic. */
  async 'bolt-express'() {
    const [{ default: bolt }, { default: express }, { default: KeyvRedis }, { Keyv }] = await Promise.all([
      import('@slack/bolt'),
      import('express'),
      import('@keyv/redis'),
      import('keyv'),
    ]);
    const keyv = new Keyv(new KeyvRedis(`redis://127.0.0.1:${redisPort}`), {
      namespace: '',
      ttl: rememberMs,
    });
    const receiver = new bolt.ExpressReceiver({ signingSecret: 'unused' });
    async function remember(key: string): Promise<boolean> {
      if ((await keyv.get(key)) !== undefined) return false;
      return await keyv.set(key, 1);
    }
    receiver.router.post('/webhooks/payments', express.raw({ type: '*/*' }), (request, response) => {
      const body = request.body as Buffer;
      if (isSigned(body, request.headers))
        void remember(peerKey(body)).then((isNew) => response.type('json').send(answerOf(isNew)));
      else response.status(401).end();
    });
    await new bolt.App({ receiver, token: 'xoxb-unused', tokenVerificationEnabled: false }).start(
      Number(port),
    );
  },
};

await peers[peer]?.();

/** Only node:http: `judge` gets the raw body and says whether it is new; undefined: not signed. */
function serveBare(judge: (body: Buffer, headers: Headers) => Promise<boolean> | undefined): void {
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const judged = judge(Buffer.concat(chunks), request.headers);
      if (!judged) {
        response.writeHead(401).end();
        return;
      }
      void judged.then((isNew) => {
        const body = answerOf(isNew);
        const headers = { 'content-type': 'application/json', 'content-length': body.length };
        return response.writeHead(200, headers).end(body);
      });
    });
  }).listen(Number(port), '127.0.0.1');
}

function answerOf(isNew: boolean): string {
  return JSON.stringify({ result: isNew ? 'new' : 'duplicate' });
}

/** A hand-written check: HMAC-SHA256 over the raw bytes, in hex, compared in constant time. */
function isSigned(body: Buffer, { 'x-webhook-signature': signature }: Headers): boolean {
  if (typeof signature !== 'string') return false;
  const expected = createHmac('sha256', webhookSecret).update(body).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function eventName(body: Buffer): string {
  const event = JSON.parse(body.toString()) as {
    event_type: string;
    data: { order: { orderReference: string } };
  };
  return `${event.event_type}/${event.data.order.orderReference}`;
}

/** The key that stores an event. */
function peerKey(body: Buffer): string {
  return prefix + eventName(body);
}

/** One socket to Redis, without a client library. Calls `hear` with each line; an error ends the process. */
function connectToRedis(hear: (line: string) => void): Socket {
  const socket = connect(Number(redisPort), '127.0.0.1').setNoDelay(true);
  let rest = '';
  return socket.setEncoding('latin1').on('data', (chunk: string) => {
    rest += chunk;
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (line.startsWith('-')) throw new Error(line);
      hear(line);
    }
  });
}

/** `SET key 1 NX PX …` over one raw socket: the least that durable deduplication costs. */
function keepOnceInRedis(): (key: string) => Promise<boolean> {
  const waiting: ((isNew: boolean) => void)[] = [];
  // $-1 is nil: the key existed.
  const socket = connectToRedis((line) => waiting.shift()?.(line === '+OK'));
  const tail = `$1\r\n1\r\n$2\r\nNX\r\n$2\r\nPX\r\n$${String(rememberMs).length}\r\n${rememberMs}\r\n`;
  return (key) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      socket.write(`*6\r\n$3\r\nSET\r\n$${Buffer.byteLength(key)}\r\n${key}\r\n${tail}`);
    });
}
