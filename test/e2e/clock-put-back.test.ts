import { describe, expect, test, type TestContext } from 'vitest';
import { calmMs } from '../support/calm-ms.ts';
import { openDesk, type Desk } from '../support/desk.ts';
import { findProgram } from '../support/programs.ts';
import { redisOf } from '../support/redis-server.ts';
import { askRedis } from '../support/redis-store.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: a Redis whose clock is put back, because redis-server is not installed.');

/** How far a person or a time server puts the clock back. */
const steps = [
  ['150 s', 150_000],
  ['two hours', 7_200_000],
] as const;
const promisedMs = 2_000;
/** A digest is edited once in five seconds. */
const digestMs = 12_000;
const patienceMs = 20_000;

type Stage = { desk: Desk; putBack: (byMs: number) => Promise<void> };

async function onSqlite(context: TestContext, env: Record<string, string>): Promise<Stage> {
  const desk = await openDesk(context, { env });
  return { desk, putBack: async (byMs) => desk.house.later(-byMs) };
}

async function onRedis(context: TestContext, env: Record<string, string>): Promise<Stage> {
  const redis = await redisOf(context);
  const desk = await openDesk(context, { redisUrl: redis.url, env });
  return {
    desk,
    async putBack(byMs) {
      desk.house.later(-byMs);
      // Putting Redis's clock back is the same as making all its times that much later.
      await askRedis(redis.port, 'EVAL', laterScript, '0', String(byMs * 1_000));
    },
  };
}

const laterScript = `
local function later(text) return string.format('%.0f', tonumber(text) + tonumber(ARGV[1])) end
for _, key in ipairs(redis.call('KEYS', '*')) do
  local name = string.match(key, '}:([a-z]+)')
  if name == 'version' then redis.call('SET', key, later(redis.call('GET', key))) end
  if name == 'work' or name == 'ready' or name == 'blocked' or name == 'ends' then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      redis.call('ZADD', key, later(redis.call('ZSCORE', key, member)), member)
    end
  end
  if name == 'lane' then
    for _, field in ipairs({ 'lease_until', 'pause_until' }) do
      local text = redis.call('HGET', key, field)
      if text then redis.call('HSET', key, field, later(text)) end
    end
  end
end
return 1
`;

describe.each([
  ['SQLite', onSqlite, false],
  ['Redis', onRedis, missing],
] as const)('a clock that is put back on %s', (_store, open, isMissing) => {
  test.skipIf(isMissing).for(steps)('by %s keeps no alert from its channel', async ([, byMs], context) => {
    const { desk, putBack } = await open(context, {});
    const first = await desk.house.decline();
    await desk.reads('lead', ['Declined', first], 'payAlerts');
    // From here on the channel waits for a second.
    await desk.settled('soon');
    await putBack(byMs);
    await desk.house.decline();
    const tookMs = await calmMs(() => desk.house.until('both are told', () => told(desk) === 2, patienceMs));
    expect(tookMs).toBeLessThan(promisedMs);
  });

  test.skipIf(isMissing).for(steps)('by %s stops no digest of a storm', async ([, byMs], context) => {
    const { desk, putBack } = await open(context, { DIGEST_THRESHOLD: '2' });
    for (let n = 0; n < 5; n += 1) await desk.house.decline();
    await desk.reads('lead', 'Storm', 'payAlerts');
    await putBack(byMs);
    for (let n = 0; n < 4; n += 1) await desk.house.decline();
    const tookMs = await calmMs(() => desk.house.until('all are told', () => told(desk) === 9, patienceMs));
    expect(tookMs).toBeLessThan(digestMs);
  });
});

/** How many failures the channel shows: as a message, or counted in the digest. */
function told({ posts }: Desk): number {
  const [digests, singles] = [/Storm/, /Declined/].map((words) =>
    posts('lead', 'payAlerts').filter(({ shown }) => words.test(shown.text)),
  );
  const counted = /(\d+) failed charges/.exec(digests?.at(-1)?.shown.text ?? '')?.[1];
  return (singles?.length ?? 0) + Number(counted ?? 0);
}
