import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { check, inParallel, median } from '../figures.ts';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { serveOnLoopback } from '../../test/support/loopback.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { rowOf, type Row } from '../report.ts';
import { programPath, startContestant, type Program } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { playRound, takeTurns } from '../stage/round.ts';
import type { EventKind } from './event.ts';

export type IngestSize = { rounds: number; events: number; connections: number; only?: RegExp | undefined };

type Variant = {
  name: string;
  program: Program;
  /** The prefix of its records' keys in Redis. */
  keysBegin: string;
  kind: EventKind;
  /** Absent for other ways to build it. */
  ownPrefix?: string;
};

/** The floor first, then the bot, then the others, whose packages are installed anyway. */
function redisField(house: House, redisPort: number, backendUrl: string): Variant[] {
  function peer(name: string, which: string, keysBegin = `${which}:`): Variant {
    const env = { PEER: which, REDIS_PORT: String(redisPort), KEY_PREFIX: `${which}:` };
    const logPath = join(house.folder, `${which}.log`);
    const program = { path: programPath('ingest/peers.ts'), env, logPath };
    return { name, program, keysBegin, kind: 'payment_failed' };
  }
  function ours(name: string, kind: EventKind, more: Record<string, string> = {}): Variant {
    const ownPrefix = ['ours', kind, ...Object.keys(more)].join('-');
    const env = { REDIS_URL: `redis://127.0.0.1:${redisPort}`, REDIS_PREFIX: ownPrefix, ...more };
    // A payment that no rule posts is stored only as a payment.
    const record = kind === 'payment_failed' ? 'message:alert:' : 'event:';
    const keysBegin = `{${ownPrefix}}:record:${record}`;
    return { name, program: house.bot(ownPrefix, env), keysBegin, kind, ownPrefix };
  }
  return [
    peer('bare node:http and Redis (floor)', 'floor'),
    ours('Payops, failures (told)', 'payment_failed'),
    ours('Payops, successes (remembered)', 'payment_success'),
    ours('Payops, failures (told and forwarded)', 'payment_failed', { WEBHOOK_FORWARD_URL: backendUrl }),
    peer('floor that seals, queues and logs, no bot', 'same-work', '{same-work}:record:'),
    peer('Bolt customRoutes', 'bolt-route'),
    peer('Bolt ExpressReceiver, Keyv get and set', 'bolt-express'),
  ];
}

/**
 * Measures all variants on one Redis, in turns; each keeps its process, so all are warm. The bot's worker runs as in
 * production, and its later work is finished before the next turn.
 */
export async function measureIngestOnRedis(house: House, size: IngestSize): Promise<Row[]> {
  const redis = await startRedis();
  const connection = connectRedis({ url: redis.url, log: () => undefined });
  await connection.tried;
  // Accepts everything at once: only the bot is measured.
  const backend = await serveOnLoopback(
    (request, response) => void request.resume().on('end', () => response.end()),
  );
  const field = redisField(house, redis.port, backend.url).filter(
    ({ name }) => size.only?.test(name) ?? true,
  );
  const running = await Promise.all(
    field.map(async (variant) => ({
      ...variant,
      contestant: await startContestant(variant.program),
      sent: 0,
    })),
  );
  try {
    const played = await takeTurns(running, size.rounds, async (one, name) => {
      const { contestant, kind, ownPrefix } = one;
      const { connections, events: count } = size;
      const round = await playRound(contestant, { count, connections, name, what: { kind } });
      one.sent += count;
      const found = await countKeys(connection, one.keysBegin);
      check(found === one.sent, `${one.name}: ${found} records of ${one.sent} events`);
      if (ownPrefix !== undefined) await workedOff(connection, ownPrefix);
      return round;
    });
    const [floor = []] = played;
    return running.map(({ name, ownPrefix }, at) => {
      const row = rowOf({ part: 'ingest on Redis', name }, played[at] ?? [], floor);
      const line = { atLeast: '0.80 ×', holds: (row.ratio ?? 0) >= 0.8 };
      return ownPrefix === undefined ? row : { ...row, line };
    });
  } finally {
    connection.close();
    await Promise.all(running.map(({ contestant }) => contestant.stop()));
    await Promise.all([redis.stop(), backend.close()]);
  }
}

export async function countKeys({ client }: RedisConnection, begin: string): Promise<number> {
  let count = 0;
  for await (const keys of client.scanIterator({ MATCH: `${begin}*`, COUNT: 10_000 })) count += keys.length;
  return count;
}

/**
 * Waits until the bot's work is done. Payments wait two seconds before they are matched with failures, and alerts of a
 * storm wait in their channel's lane behind the first twenty, one a second. Scheduled work never ends, so it doesn't
 * count.
 */
async function workedOff({ client }: RedisConnection, prefix: string): Promise<void> {
  const root = `{${prefix}}`;
  async function isUnderWay(): Promise<boolean> {
    const [ready, blocked] = await Promise.all([
      client.zRange(`${root}:ready`, 0, -1),
      client.zRange(`${root}:blocked`, 0, -1),
    ]);
    return [...ready, ...blocked].some((lane) => /^(?:event-log$|event:|forward\/|C0)/.test(lane));
  }
  while (await isUnderWay()) await rest(100);
}

/**
 * Two bots on one Redis, in turns: one with few stored events, one with very many. One connection, to measure latency.
 */
export async function measureGrowth(
  house: House,
  size: { rounds: number; events: number; fewer: number; more: number },
): Promise<Row> {
  const redis = await startRedis({ args: ['--appendfsync', 'everysec'] });
  const connection = connectRedis({ url: redis.url, log: () => undefined });
  await connection.tried;
  const bots = await Promise.all(
    [size.fewer, size.more].map(async (remembered) => {
      const prefix = `grown-${remembered}`;
      const store = openRedisStore(connection.commands, { prefix });
      await inParallel(remembered, 200, async (index) => {
        const key = `message:alert:payment_failed/order/old-${index}`;
        check(await store.create(key, 'x'.repeat(600), { ttlMs: 86_400_000 }), 'a record was there already');
      });
      return await startContestant(house.bot(prefix, { REDIS_URL: redis.url, REDIS_PREFIX: prefix }));
    }),
  );
  try {
    const what = { kind: 'payment_failed' } as const;
    const [few = [], many = []] = await takeTurns(bots, size.rounds, (bot, name) =>
      playRound(bot, { count: size.events, connections: 1, name, what }),
    );
    const ratio = median(many.map(({ p50Ms }, at) => p50Ms / (few[at]?.p50Ms ?? Number.NaN)));
    return {
      part: 'growth',
      name: `ingest p50 with ${size.more} remembered`,
      value: median(many.map(({ p50Ms }) => p50Ms)),
      unit: 'ms',
      p99Ms: median(many.map(({ p99Ms }) => p99Ms)),
      ratio,
      to: `with ${size.fewer}`,
      line: { atLeast: '1.20 at most', holds: ratio <= 1.2 },
    };
  } finally {
    connection.close();
    await Promise.all(bots.map((bot) => bot.stop()));
    await redis.stop();
  }
}
