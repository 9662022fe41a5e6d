/**
 * A process to be killed while it takes a step: it prints when it has changed a record, and then its store never
 * answers again.
 */
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { stepsOver } from './sample-store.ts';

const [where = ''] = process.argv.slice(2);
const isRedis = where.startsWith('redis:');

async function open(): Promise<Store> {
  if (!isRedis) return openSqliteStore({ path: where, now: Date.now });
  const { commands, tried } = connectRedis({ url: where, log: () => undefined });
  await tried;
  return openRedisStore(commands);
}

const store = await open();
let turns = 0;
const steps = stepsOver(
  {
    ...store,
    async replace(...call) {
      turns += 1;
      if (turns > 1) return await new Promise<boolean>(() => undefined);
      const end = await store.replace(...call);
      process.stdout.write('changed\n');
      return end;
    },
  },
  () => undefined,
  isRedis ? undefined : where,
);
setInterval(() => undefined, 1_000);
await steps.lookNow();
