import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sealer } from '../operations/outbox.ts';
import { readOrMakeKeyFile } from '../store/key-file.ts';
import { connectRedis, type RedisConnection } from '../store/redis-client.ts';
import { openRedisStore } from '../store/redis-store.ts';
import { createSealer } from '../store/sealed.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { watchRedis } from '../store/watch-redis.ts';
import type { Outside } from './outside.ts';

export type Kept = {
  store: Store;
  sealer: Sealer;
  redis: RedisConnection | undefined;
  /** Why the store must not be trusted; undefined when it may be, or cannot be asked yet. */
  refusal: () => Promise<string | undefined>;
  close: () => Promise<void>;
};

/** What survives a crash: the embedded store with its own key file, or Redis with the keys that replicas share. */
export function openKept({ config, log, now }: Outside): Kept {
  if (config.redisUrl === undefined) {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    const keys = config.sealingKeys ?? [
      { id: 'file', key: readOrMakeKeyFile(join(config.dataDir, 'sealing.key')) },
    ];
    const store = openSqliteStore({ path: join(config.dataDir, 'payops.sqlite'), now });
    return {
      store,
      sealer: createSealer(keys),
      redis: undefined,
      refusal: noRefusal,
      close: () => store.close(),
    };
  }
  const redis = connectRedis({ url: config.redisUrl, log });
  const store = openRedisStore(redis.client, { prefix: config.redisPrefix });
  const watch = watchRedis(redis.client, log);
  return {
    store,
    sealer: createSealer(config.sealingKeys ?? []),
    redis,
    refusal: watch.firstRefusal,
    async close() {
      watch.stop();
      await store.close();
      redis.close();
    },
  };
}

function noRefusal(): Promise<undefined> {
  return Promise.resolve(undefined);
}
