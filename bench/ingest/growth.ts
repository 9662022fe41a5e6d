import { check, inParallel, median } from '../figures.ts';
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import type { Row } from '../report.ts';
import { startContestant } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { playRound, takeTurns } from '../stage/round.ts';

/** Two bots on one Redis, taking turns: one remembers few events, one a great many. One connection, so that it is the way alone. */
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
    const what = { kind: 'payment_failed', signing: 'raw-body' } as const;
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
      line: { atLeast: '1.20 at most', aim: '1.05', holds: ratio <= 1.2 },
    };
  } finally {
    connection.close();
    await Promise.all(bots.map((bot) => bot.stop()));
    await redis.stop();
  }
}
