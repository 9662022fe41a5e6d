import { setTimeout as rest } from 'node:timers/promises';
import { connectRaw, type RawClient } from '../../http/raw-client.ts';
import { eventText, head, paths, type Scene } from './scene.ts';
import { calmMs } from '../../support/calm-ms.ts';

export type SlowResult = {
  sockets: number;
  /** Connections that the bot did not close in time. */
  open: string[];
  slowestMs: number;
  before: Latency;
  during: Latency;
};

export type Latency = { sent: number; wrong: number; p50Ms: number; p99Ms: number };

export const closedWithinMs = 15_000;
/** Next to slow sockets, p99 may grow by this factor, because a busy machine is uneven. */
const mostTimes = 5;
/** Shorter delays don't matter: a fifth of the time in which an outage is answered. */
const unnoticedMs = 500;
const dribbleMs = 1_000;
const eventsASecond = 20;

type Slow = { name: string; open: (client: RawClient, path: string) => Promise<string> };

/** What each socket sends at once; the rest follows at one character a second. */
const kinds: readonly Slow[] = [
  { name: 'says nothing', open: async () => '' },
  {
    name: 'dribbles its headers',
    async open(client, path) {
      client.write(`POST ${path} HTTP/1.1\r\nhost: bot\r\n`);
      return 'x-slow: '.padEnd(100, 'x');
    },
  },
  {
    name: 'dribbles its body',
    async open(client, path) {
      client.write(head(path, { 'content-type': 'application/json', 'content-length': '1000' }));
      return '{'.padEnd(100);
    },
  },
  {
    name: 'dribbles its chunks',
    async open(client, path) {
      client.write(head(path, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }));
      return '1\r\nx\r\n'.repeat(20);
    },
  },
  {
    name: 'dribbles a second request',
    async open(client, path) {
      client.write(head(path, { 'content-type': 'application/json', 'content-length': '2' }) + '{}');
      await client.receive('HTTP/1.1 401');
      client.write(`POST ${path} HTTP/1.1\r\nhost: bot\r\n`);
      return 'x-slow: '.padEnd(100, 'x');
    },
  },
];

/** How slow sockets delayed the events; empty if they didn't. */
export function heldUp({ before, during }: Pick<SlowResult, 'before' | 'during'>): string[] {
  const mostMs = Math.max(unnoticedMs, mostTimes * before.p99Ms);
  const wrong = before.wrong + during.wrong;
  return [
    ...(wrong === 0 ? [] : [`${wrong} events were not answered with 200`]),
    ...(during.p99Ms <= mostMs
      ? []
      : [`events beside slow sockets: p99 ${Math.round(during.p99Ms)} ms, at most ${Math.round(mostMs)} ms`]),
  ];
}

/** Opens slow connections to both endpoints while events keep coming, and measures both. */
export async function runSlowSockets(
  scene: Pick<Scene, 'port' | 'signed'>,
  sockets: number,
  { beforeMs = 5_000, duringMs = closedWithinMs } = {},
): Promise<SlowResult> {
  const before = await deliver(scene, 'before', beforeMs);
  const slow = Promise.all(
    Array.from({ length: sockets }, (_, index) => {
      const kind = kinds[index % kinds.length];
      const path = Object.values(paths)[Math.floor(index / kinds.length) % 2];
      if (!kind || path === undefined) throw new Error('There is no such kind of slow socket.');
      return beSlow(scene.port, kind, path);
    }),
  );
  const during = await deliver(scene, 'during', duringMs);
  const ends = await slow;
  return {
    sockets,
    open: ends.filter(({ tookMs }) => tookMs > closedWithinMs).map(({ name }) => name),
    slowestMs: Math.max(...ends.map(({ tookMs }) => tookMs)),
    before,
    during,
  };
}

async function beSlow(port: number, kind: Slow, path: string): Promise<{ name: string; tookMs: number }> {
  const name = `${path}: ${kind.name}`;
  const client = await connectRaw(port);
  const slowly = await kind.open(client, path);
  const startedAt = performance.now();
  let at = 0;
  const timer = setInterval(() => {
    client.write(slowly.slice(at, at + 1));
    at += 1;
  }, dribbleMs);
  await Promise.race([client.receiveAll(), rest(closedWithinMs + 1_000, undefined, { ref: false })]);
  clearInterval(timer);
  const tookMs = client.socket.destroyed ? performance.now() - startedAt : Infinity;
  client.socket.destroy();
  return { name, tookMs };
}

/** Ordinary events at an even rate, each sent on time even if the one before is unanswered. */
async function deliver(scene: Pick<Scene, 'port' | 'signed'>, name: string, forMs: number): Promise<Latency> {
  const answers: Promise<{ status: number; tookMs: number }>[] = [];
  const startedAt = performance.now();
  const count = Math.floor((forMs / 1_000) * eventsASecond);
  for (let number = 0; number < count; number += 1) {
    const dueMs = startedAt + number * (1_000 / eventsASecond) - performance.now();
    if (dueMs > 0) await rest(dueMs);
    answers.push(deliverOne(scene, `SLOW-${name}-${number}`));
  }
  const all = await Promise.all(answers);
  const took = all.map(({ tookMs }) => tookMs).toSorted((one, other) => one - other);
  return {
    sent: all.length,
    wrong: all.filter(({ status }) => status !== 200).length,
    p50Ms: took[Math.floor(took.length * 0.5)] ?? 0,
    p99Ms: took[Math.floor(took.length * 0.99)] ?? 0,
  };
}

async function deliverOne(
  scene: Pick<Scene, 'port' | 'signed'>,
  reference: string,
): Promise<{ status: number; tookMs: number }> {
  const body = eventText(reference);
  let status = 0;
  const tookMs = await calmMs(async () => {
    try {
      const response = await fetch(`http://127.0.0.1:${scene.port}${paths.webhook}`, {
        method: 'POST',
        headers: scene.signed(body),
        body,
        signal: AbortSignal.timeout(10_000),
      });
      await response.text();
      status = response.status;
    } catch {
      // Leaves status 0, which counts as wrong.
    }
  });
  return { status, tookMs };
}
