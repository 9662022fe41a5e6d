/**
 * What the bot owes an event before it answers, and nothing else, on the floor's server: the event sealed, stored as
 * work of its channel by the store's own script, all of one turn together, and a line of log. How much of the
 * difference to the floor is this work, and how much is the bot's.
 */
import { writeSync } from 'node:fs';
import { createLog, inOneWrite } from '../../src/log.ts';
import { createScript } from '../../src/store/redis-scripts.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { serveBare } from './bare-server.ts';
import { connectToRedis } from './redis-lines.ts';
import { isSigned, peerKey } from './signed.ts';

const prefix = process.env['KEY_PREFIX'] ?? '';
const root = `{${prefix.slice(0, -1)}}`;
const channel = 'C0ALERTS01';
const sealer = createSealer([{ id: 'bench', key: Buffer.alloc(32, 'bench') }]);
const { write } = inOneWrite((lines) => void writeSync(process.stdout.fd, lines));
const log = createLog({ level: 'info', secrets: [], write, now: () => new Date() });

type Waiting = { record: string[]; resolve: (isNew: boolean) => void };
let collected: Waiting[] = [];
const asked: Waiting[] = [];
const socket = connectToRedis(Number(process.env['REDIS_PORT']), (line) => {
  // One number for each record; the lines between say how many come.
  if (line.startsWith(':')) asked.shift()?.resolve(line === ':1');
});
socket.write(command(['SCRIPT', 'LOAD', createScript.text]));

function command(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

function flush(): void {
  const records = collected.flatMap(({ record }) => record);
  asked.push(...collected);
  collected = [];
  socket.write(command(['EVALSHA', createScript.sha1, '1', root, ...records]));
}

function keep(record: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    if (collected.length === 0) setImmediate(flush);
    collected.push({ record, resolve });
  });
}

serveBare((body, headers) => {
  if (!isSigned(body, headers['x-webhook-signature'])) return undefined;
  const key = peerKey('', body);
  const { data } = JSON.parse(body.toString()) as { data: Record<string, unknown> };
  const { padding: _padding, ...event } = data;
  const sealed = sealer.seal(key, JSON.stringify(event));
  const value = JSON.stringify({ kind: 'alert', channel, receivedAtMs: Date.now(), sealed });
  return keep([key, value, channel, '0', '', '']).then((isNew) => {
    log('info', 'Webhook kept', { eventKey: key, result: isNew ? 'new' : 'duplicate', httpStatus: 200 });
    return isNew;
  });
});
