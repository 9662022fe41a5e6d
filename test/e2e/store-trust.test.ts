import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDesk, type Desk } from '../support/desk.ts';
import { openHouse } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { redisOf } from '../support/redis-server.ts';
import { askRedis, openRedis } from '../support/redis-store.ts';

const missing = findProgram('redis-server') === undefined;
if (missing)
  console.warn('SKIPPED: a Redis that is not to be trusted, because redis-server is not installed.');

const otherKeys = { SEALING_KEYS: `test:${randomBytes(32).toString('base64')}` };
const metricsToken = 'a-token-of-its-own';

async function readiness({ bot }: Pick<Desk, 'bot'>): Promise<{ status: number; store: unknown }> {
  const headers = { Authorization: `Bearer ${metricsToken}` };
  const response = await fetch(`${bot.url()}/readyz`, { headers });
  const { parts } = (await response.json()) as { parts: { name: string }[] };
  return { status: response.status, store: parts.find(({ name }) => name === 'store') };
}

function logs({ bot }: Pick<Desk, 'bot'>, words: string): boolean {
  return bot.lines.some((line) => line.includes(words));
}

describe.concurrent('a bot whose sealing key is not the one that sealed its store', () => {
  test('does not start on the embedded store, and says which key is missing', async (context) => {
    const house = await openHouse(context);
    const bot = house.bot();
    await house.start(bot);
    await bot.stop();
    writeFileSync(join(house.dataDir, 'sealing.key'), randomBytes(32));
    await expect(bot.start()).rejects.toThrow(/sealing keys do not open what this store holds.*sealing\.key/);
  });

  test.skipIf(missing)('does not start on Redis, not even with a key of the same name', async (context) => {
    const redis = await redisOf(context);
    const house = await openHouse(context, { redisUrl: redis.url });
    await house.start(house.bot());
    await expect(house.bot(otherKeys).start()).rejects.toThrow(/SEALING_KEYS lacks the key/);
  });

  test.skipIf(missing)('takes no work from a Redis that was away when it started', async (context) => {
    const redis = await redisOf(context);
    const env = { METRICS_TOKEN: metricsToken };
    const house = await openHouse(context, { redisUrl: redis.url, env });
    const right = house.bot();
    await house.start(right);
    await right.stop();
    const prefix = house.settings()['REDIS_PREFIX'] ?? '';
    const { store, close } = await openRedis({ url: redis.url, prefix });
    await store.create('message:notice:kept', 'sealed with the right key', { delayMs: 0 });
    close();
    await redis.kill9();
    const wrong = house.bot(otherKeys);
    await wrong.start();
    await redis.restart();
    const doesNotOpen = async () =>
      JSON.stringify((await readiness({ bot: wrong })).store).includes('do not open');
    await house.until('it says that it is not ready', doesNotOpen);
    expect((await readiness({ bot: wrong })).status).toBe(503);
    // Its other workers had their turns by now.
    await wrong.stop();
    expect(await house.storeKeys('message:notice:kept')).toHaveLength(1);
    expect(logs({ bot: wrong }, 'put aside')).toBe(false);
  });
});

describe.skipIf(missing).concurrent('a Redis that changes under the bot', () => {
  test('that is emptied makes it unready, and is reported in the log and to the operators', async (context) => {
    const redis = await redisOf(context);
    const env = { METRICS_TOKEN: metricsToken };
    const desk = await openDesk(context, { redisUrl: redis.url, env });
    await desk.asks('agent', '/pay ORDER-1001', 'Paid');
    await desk.settled('soon');
    await desk.house.until(
      'it is in the audit',
      async () => (await desk.house.storeKeys('audit:')).length > 0,
    );
    expect((await readiness(desk)).status).toBe(200);
    await askRedis(redis.port, 'FLUSHALL');
    expect(await readiness(desk)).toMatchObject({
      status: 503,
      store: { detail: 'The store was emptied while the bot ran', fix: expect.stringContaining('backup') },
    });
    await desk.reads('lead', ['The store can’t be trusted', 'was emptied', 'backup'], 'payOps');
    await desk.asks('agent', '/pay ORDER-1001', 'Paid');
    await desk.house.until('the log says both', () =>
      ['The store was emptied while the bot ran', 'The audit trail has gone back'].every((words) =>
        logs(desk, words),
      ),
    );
    await desk.restarts();
    expect((await readiness(desk)).status).toBe(200);
  });

  test('that may now evict records makes it unready until that is fixed', async (context) => {
    const redis = await redisOf(context);
    const env = { METRICS_TOKEN: metricsToken };
    const desk = await openDesk(context, { redisUrl: redis.url, env });
    await askRedis(redis.port, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await desk.reads('lead', ['The store can’t be trusted', 'maxmemory-policy is allkeys-lru'], 'payOps');
    expect((await readiness(desk)).status).toBe(503);
    await askRedis(redis.port, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await desk.house.until('it is ready again', async () => (await readiness(desk)).status === 200);
  });
});
