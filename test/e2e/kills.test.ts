import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import { countOf } from '../support/counts.ts';
import { killEverywhere } from '../support/kill-everywhere.ts';
import type { Bundle } from '../support/bot-bundle.ts';
import { runApproval } from '../support/killed-approval.ts';
import { bundleKilledBot } from '../support/killed-charge.ts';
import { stories, type Place } from '../support/killed-charge-scene.ts';
import { createLimit } from '../support/limit.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: charges killed on Redis, because redis-server is not installed.');

/** A share of what `npm run kills` does in full; each story on each store has other moments of it. */
const every = countOf({ full: 40, share: 100 });
/** Its story has three times their moments, and needs longer for each. */
const fourEyesEvery = countOf({ full: 110, share: 280 });
/** All of them wait for their turns in one queue. */
const timeout = 300_000;
const busy = createLimit(availableParallelism() + 1);
const limit = createLimit(16);

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleKilledBot();
});
afterAll(() => bundle?.remove());

/** Whatever the moment: the whole bot restarted, one charge accepted, its end told once and rightly. */
function kills(placeOf: () => Place): void {
  it.each(stories)(
    'of a charge that is %s: made once, ends rightly, told once',
    { timeout },
    async (story) => {
      const place = placeOf();
      const from = 6 * stories.indexOf(story) + (place.redis ? 3 : 0);
      const result = await killEverywhere({
        story,
        place,
        limit,
        every,
        from,
        pressAgain: false,
        awaitExpiry: false,
      });
      expect(result.wrong).toEqual([]);
      expect(result.points).toBeGreaterThan(100);
      expect(result.kills).toBeGreaterThan(0);
    },
  );

  it(
    'between a second person’s decision and its execution: executed once, told once',
    { timeout },
    async () => {
      const place = placeOf();
      const from = place.redis ? 20 : 0;
      const rest = { pressAgain: false, awaitExpiry: false };
      const story = 'approved';
      const share = { every: fourEyesEvery, from };
      const result = await killEverywhere({ story, place, play: runApproval, limit, ...share, ...rest });
      expect(result.wrong).toEqual([]);
      expect(result.points).toBeGreaterThan(100);
      expect(result.kills).toBeGreaterThan(0);
    },
  );
}

describe.concurrent('kill -9 on SQLite', () => {
  kills(() => ({ bundle, busy }));
});

describe.skipIf(missing).concurrent('kill -9 on Redis', () => {
  let server: RedisServer;
  let connection: RedisConnection;
  beforeAll(async () => {
    server = await startRedis();
    connection = connectRedis({ url: server.url, log: () => undefined });
    await once(connection.client, 'ready');
  });
  afterAll(async () => {
    connection?.close();
    await server?.stop();
  });
  kills(() => ({ bundle, busy, redis: { url: server.url, client: connection.client } }));
});
