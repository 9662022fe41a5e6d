import { setTimeout as rest } from 'node:timers/promises';
import { check } from '../figures.ts';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { rowOf, type Row } from '../report.ts';
import { startContestant } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { playRound, takeTurns } from '../stage/round.ts';
import { redisField } from './field.ts';

export type IngestSize = { rounds: number; events: number; connections: number; only?: RegExp | undefined };

/**
 * All variants on one Redis, taking turns; each keeps its process, so that all are warm. The bot's worker runs as in
 * production, and what its events bring about later is worked off before anybody else's turn.
 */
export async function measureIngestOnRedis(house: House, size: IngestSize): Promise<Row[]> {
  const redis = await startRedis();
  const connection = connectRedis({ url: redis.url, log: () => undefined });
  await connection.tried;
  const field = redisField(house, redis.port).filter(({ name }) => size.only?.test(name) ?? true);
  const running = await Promise.all(
    field.map(async (variant) => ({
      ...variant,
      contestant: await startContestant(variant.program),
      sent: 0,
    })),
  );
  try {
    const played = await takeTurns(running, size.rounds, async (one, name) => {
      const { contestant, kind, signing } = one;
      const { connections, events: count } = size;
      const round = await playRound(contestant, { count, connections, name, what: { kind, signing } });
      one.sent += count;
      const found = await countKeys(connection, one.keysBegin);
      check(found === one.sent, `${one.name}: ${found} records of ${one.sent} events`);
      if (one.isOurs) await workedOff(connection, one.prefix);
      return round;
    });
    const [floor = []] = played;
    return running.map(({ name, isOurs }, at) => {
      const row = rowOf({ part: 'ingest on Redis', name }, played[at] ?? [], floor);
      const line = { atLeast: '0.80 of the floor', aim: '0.90', holds: (row.ratio ?? 0) >= 0.8 };
      return isOurs ? { ...row, line } : row;
    });
  } finally {
    connection.close();
    await Promise.all(running.map(({ contestant }) => contestant.stop()));
    await redis.stop();
  }
}

async function countKeys({ client }: RedisConnection, begin: string): Promise<number> {
  let count = 0;
  for await (const keys of client.scanIterator({ MATCH: `${begin}*`, COUNT: 10_000 })) count += keys.length;
  return count;
}

/**
 * Successes lie two seconds before they are held against failures, and a storm's alerts wait to be counted in their
 * channel's lane, behind the first twenty, one a second. What the bot does by the clock is never at its end.
 */
async function workedOff({ client }: RedisConnection, prefix: string): Promise<void> {
  const root = `{${prefix}}`;
  async function isUnderWay(): Promise<boolean> {
    const [ready, blocked] = await Promise.all([
      client.zRange(`${root}:ready`, 0, -1),
      client.zRange(`${root}:blocked`, 0, -1),
    ]);
    return [...ready, ...blocked].some((lane) => /^(?:event-log$|alert-payment|C0)/.test(lane));
  }
  // oxlint-disable-next-line no-await-in-loop -- until there is none of it
  while (await isUnderWay()) await rest(100);
}
