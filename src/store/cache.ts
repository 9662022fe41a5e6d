import { Keyv } from 'keyv';
import { withinDeadline } from './deadline.ts';
import type { RedisConnection } from './redis-client.ts';

/** Where a wrong answer is harmless. No method ever throws or waits longer than half a second: a failure is a miss. */
export type Cache<T> = {
  get(key: string): Promise<T | undefined>;
  /** `ttlMs` in place of the cache's own. */
  set(key: string, value: T, ttlMs?: number): Promise<void>;
  delete(key: string): Promise<void>;
};

const deadlineMs = 500;
const mostInMemory = 1000;

export type CacheOptions = {
  /** Default: this process's own memory. Its client is asked for anew each time: a failover makes another. */
  redis?: Pick<RedisConnection, 'client' | 'cacheAdapter'>;
  /** As the store's; the cache's keys stand under the same hash tag, so that one access rule covers all. */
  prefix?: string;
  namespace: string;
  ttlMs: number;
};

/**
 * Shared by all replicas when there is a Redis (on the store's own connection), else in this process's
 * memory, where the oldest of a thousand entries makes room. Values must survive JSON. What is secret is
 * sealed by the caller. Never use it to decide anything once: Keyv has no set-if-absent.
 */
export function createCache<T>(options: CacheOptions): Cache<T> {
  const { redis } = options;
  const memory = new Map<string, unknown>();
  const adapter = redis?.cacheAdapter();
  adapter?.on('error', toMiss);
  const keyv = new Keyv<T>({
    store: adapter ?? memory,
    namespace: `{${options.prefix ?? 'payops'}}:cache:${options.namespace}`,
    useKeyPrefix: redis === undefined,
  });
  keyv.on('error', toMiss);

  async function attempt<R>(call: () => Promise<R>): Promise<R | undefined> {
    // Keyv's adapter would otherwise open a closed connection anew and wait for it.
    if (redis !== undefined && !redis.client.isReady) return undefined;
    if (adapter !== undefined && redis !== undefined && adapter.client !== redis.client) {
      adapter.client = redis.client;
    }
    try {
      return await withinDeadline(call(), deadlineMs);
    } catch {
      return undefined;
    }
  }

  return {
    async get(key) {
      return attempt(() => keyv.get<T>(key));
    },
    async set(key, value, entryTtlMs = options.ttlMs) {
      const ttlMs = Math.floor(entryTtlMs);
      // To Keyv 0 means for ever; here it means that the value is stale already.
      if (!(ttlMs > 0)) return void (await attempt(() => keyv.delete(key)));
      const oldest = memory.size < mostInMemory ? undefined : memory.keys().next().value;
      if (oldest !== undefined) memory.delete(oldest);
      await attempt(() => keyv.set(key, value, ttlMs));
    },
    async delete(key) {
      await attempt(() => keyv.delete(key));
    },
  };
}

/** Without a listener Keyv throws; the failure itself is a miss, and the connection's own log tells of an outage. */
function toMiss(): void {}
