import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connectRaw } from '../../http/raw-client.ts';
import { eventText, head, type Path, paths, type Scene, statusIn } from './scene.ts';

export type Endless = { name: string; status: number; sentMb: number; tookMs: number; isClosed: boolean };

const megabyte = 1_048_576;
const piece = Buffer.alloc(64 * 1_024, 'x');
const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);

const kinds = Object.values(paths).flatMap((path) =>
  [true, false].map((isChunked) => ({
    path,
    isChunked,
    name: `${path}, ${isChunked ? 'in chunks' : 'by its length'}`,
  })),
);

/** As much as it accepts, with and without a length, to the events endpoint. */
export async function streamAlone(scene: Scene, megabytes: number): Promise<Endless[]> {
  const all: Endless[] = [];
  for (const kind of kinds.filter(({ path }) => path === paths.webhook)) {
    all.push(await stream(scene, kind, megabytes));
  }
  return all;
}

/** The same to both endpoints at once; Slack's closes connections whose request takes too long. */
export function streamBeside(scene: Scene, megabytes: number): Promise<Endless[]> {
  return Promise.all(
    kinds.map((kind) => stream(scene, { ...kind, name: `${kind.name}, beside others` }, megabytes)),
  );
}

/** Reads the answer only once nothing more can be sent, like an attacker. */
async function stream(
  scene: Scene,
  { path, isChunked, name }: { path: Path; isChunked: boolean; name: string },
  megabytes: number,
): Promise<Endless> {
  const startedAt = performance.now();
  const client = await connectRaw(scene.port);
  const { socket } = client;
  const bytes = megabytes * megabyte;
  const length: Record<string, string> = isChunked
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(bytes) };
  const type = path === paths.webhook ? 'application/json' : 'application/x-www-form-urlencoded';
  client.write(head(path, { 'content-type': type, ...length }));
  const part = isChunked ? chunk : piece;
  const closed = once(socket, 'close').catch(() => undefined);
  let sent = 0;
  while (sent < bytes && !socket.destroyed) {
    sent += piece.length;
    if (!socket.write(part)) {
      await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
    }
  }
  const answer = await Promise.race([client.receiveAll(), after(12_000)]);
  const isClosed = socket.destroyed;
  socket.destroy();
  const tookMs = performance.now() - startedAt;
  return { name, status: statusIn(answer ?? ''), sentMb: sent / megabyte, tookMs, isClosed };
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}

/** A process's resident memory in megabytes. */
export function residentMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) / 1_024;
}

/** Measures every few milliseconds; the returned function gives the maximum. */
export function watchMemory(pid: number): () => number {
  let most = residentMb(pid);
  const timer = setInterval(() => {
    most = Math.max(most, residentMb(pid));
  }, 20);
  return () => {
    clearInterval(timer);
    return Math.max(most, residentMb(pid));
  };
}

/** `receipt`: required content of the answer's body, since the status does not show how the body was understood. */
type OddBody = {
  name: string;
  path: Path;
  body: Buffer;
  headers: (scene: Scene, body: Buffer) => Record<string, string>;
  statuses: readonly number[];
  receipt?: string;
  method?: string;
};

const deep = 10_000;

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

function event(order: string, more = ''): string {
  return `{"event_type":"payment_failed","data":{"order":{${order}}}${more}}`;
}

/** Signed, of an unknown shape: such events are stored, reported and answered 200. */
const kept: readonly [name: string, body: string | Buffer, receipt?: string][] = [
  ['arrays 10,000 deep', nested(deep), '"unknown"'],
  ['objects 10,000 deep', '{"a":'.repeat(deep) + '1' + '}'.repeat(deep), '"unknown"'],
  [
    'an event with arrays 100,000 deep',
    event('"orderReference":"DEEP"', `,"x":${nested(100_000)}`),
    '"result"',
  ],
  ['a number', '7', '"unknown"'],
  ['null', 'null', '"unknown"'],
  ['a text', '"payment_failed"', '"unknown"'],
  ['a list of events', `[${event('"orderReference":"IN-A-LIST"')}]`, '"IN-A-LIST"'],
  ['no JSON', 'event_type=payment_failed', '"unknown"'],
  ['nothing', '', '"unknown"'],
  ['data that is null', '{"event_type":"payment_failed","data":null}', '"result"'],
  ['a kind that is a number', '{"event_type":7,"data":{}}', '"unknown"'],
  ['a kind that is an object', '{"event_type":{"toString":1},"data":{}}', '"unknown"'],
  [
    'fields of wrong types',
    event('"orderReference":["W-1"],"orderId":{},"amount":true,"currency":7'),
    '"result"',
  ],
  ['an amount no number holds', event(`"orderReference":"W-2","amount":1${'0'.repeat(400)}`), '"W-2"'],
  ['a prototype', `{"__proto__":{"event_type":"payment_failed"},"data":{}}`, '"unknown"'],
  [
    'a prototype in the order',
    event('"__proto__":{"orderReference":"P-1"},"orderId":"o"'),
    '"orderReference":null',
  ],
  ['a constructor', `{"constructor":{"prototype":{"event_type":"payment_failed"}}}`, '"unknown"'],
  ['a reference twice: the last counts', event('"orderReference":"FIRST","orderReference":"LAST"'), '"LAST"'],
  ['an amount twice', event('"orderReference":"TWICE","amount":"1.00","amount":"2.00"'), '"TWICE"'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), '"unknown"'],
  ['a byte order mark', `\uFEFF${event('"orderReference":"BOM"')}`, '"BOM"'],
  ['half characters', event('"orderReference":"H\\ud83d"'), '"result"'],
];

function signing(scene: Scene, body: Buffer): Record<string, string> {
  return scene.signed(body);
}

const signedBodies = kept.map(([name, body, receipt]): OddBody => ({
  name,
  path: paths.webhook,
  body: Buffer.from(body as string),
  headers: signing,
  statuses: [200],
  ...(receipt === undefined ? {} : { receipt }),
}));

const plainEvent = Buffer.from(eventText('ODD-0'));

function refused(name: string, status: number, more: Partial<OddBody>): OddBody {
  return { name, path: paths.webhook, body: plainEvent, headers: signing, statuses: [status], ...more };
}

const refusedBodies: readonly OddBody[] = [
  ...signedBodies.map(({ name, body }) =>
    refused(`${name}, not signed`, 401, { body, headers: () => ({ 'content-type': 'application/json' }) }),
  ),
  refused('another method', 405, { method: 'PUT' }),
  refused('another type', 415, { headers: () => ({ 'content-type': 'text/plain' }) }),
  refused('packed', 415, {
    headers: (scene, body) => ({ ...scene.signed(body), 'content-encoding': 'gzip' }),
  }),
  refused('headers of 100 KB', 431, {
    headers: (scene, body) => ({ ...scene.signed(body), 'x-long': 'x'.repeat(100_000) }),
  }),
  refused('a length and chunks', 400, {
    headers: (scene, body) => ({ ...scene.signed(body), 'transfer-encoding': 'chunked' }),
  }),
  refused('Slack’s door, not signed', 401, {
    path: paths.slack,
    headers: () => ({ 'content-type': 'application/x-www-form-urlencoded' }),
  }),
];

/** Bodies that Slack would never send, signed with its secret: refused or ignored, without an error of the bot. */
const slackBodies = [
  `payload=${encodeURIComponent(nested(deep))}`,
  'payload=7',
  'payload={',
  'command=/pay&command=/pay&text=a&text=b',
  '__proto__=1&constructor=2',
  '%',
  '',
].map((text): OddBody => ({
  name: `signed as Slack: ${text.slice(0, 24)}`,
  path: paths.slack,
  body: Buffer.from(text),
  headers: (scene) => scene.slackSigned(text),
  statuses: [200, 400, 401, 404],
}));

export const oddBodies: readonly OddBody[] = [...signedBodies, ...refusedBodies, ...slackBodies];

/** Sends it over a connection of its own; returns what is wrong with the answer, or undefined. */
export async function sendOdd(scene: Scene, odd: OddBody): Promise<string | undefined> {
  const client = await connectRaw(scene.port);
  const headers = {
    ...odd.headers(scene, odd.body),
    'content-length': String(odd.body.length),
    connection: 'close',
  };
  client.write(Buffer.concat([Buffer.from(head(odd.path, headers, odd.method), 'latin1'), odd.body]));
  const answer = await Promise.race([client.receiveAll(), none()]);
  client.socket.destroy();
  const status = statusIn(answer);
  if (!odd.statuses.includes(status)) return `${odd.name}: ${status}, not ${odd.statuses.join(' or ')}`;
  return odd.receipt === undefined || answer.includes(odd.receipt)
    ? undefined
    : `${odd.name}: answered ${answer.slice(answer.indexOf('\r\n\r\n') + 4)}, without ${odd.receipt}`;
}

const patienceMs = 12_000;

function none(): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(''), patienceMs).unref();
  });
}
