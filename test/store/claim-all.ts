/** A child process of the claim race: creates every key, and prints how many it created itself. */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';

const [where = '', count = '', me = ''] = process.argv.slice(2);

async function open(): Promise<Store> {
  if (!where.startsWith('redis:')) return openSqliteStore({ path: where, now: Date.now });
  const { commands, tried } = connectRedis({ url: where, log: () => undefined });
  await tried;
  return openRedisStore(commands);
}

/**
 * Each batch begins once both processes have finished the one before, so that even on a busy machine they race for the
 * same keys.
 */
async function claimAll(store: Store): Promise<number> {
  let claimed = 0;
  for (let first = 0; first < Number(count); first += 50) {
    const keys = Array.from({ length: 50 }, (_, n) => `key ${first + n}`);
    const answers = await Promise.all(keys.map((key) => store.create(key, '', { ttlMs: 3_600_000 })));
    claimed += answers.filter(Boolean).length;
    await store.create(`${me} has ended ${first}`, '');
    while (!(await store.read(`${1 - Number(me)} has ended ${first}`))) await setTimeout(1);
  }
  return claimed;
}

const store = await open();
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdout.write(`${await claimAll(store)}\n`);
await store.close();
process.exit();
