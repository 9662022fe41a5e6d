import { Keyv } from 'keyv';
import { withinDeadline } from './deadline.ts';
import type { RedisConnection } from './redis-client.ts';

const deadlineMs = 500;

/**
 * A cache on the store's Redis connection, shared by all replicas, for values that may get lost. Without Redis it
 * always misses. Methods never throw, and take half a second at most; a failure counts as a miss. Its keys are under
 * the store's hash tag, so that one access rule covers both. Values must survive JSON; the caller seals secrets. Never
 * use it to make something happen once: Keyv has no set-if-absent.
 */
export function createCache<T>(
  redis: Pick<RedisConnection, 'client' | 'cacheAdapter'> | undefined,
  prefix: string,
  namespace: string,
) {
  const adapter = redis?.cacheAdapter();
  const keyv = new Keyv<T>({
    ...(adapter && { store: adapter }),
    namespace: `{${prefix}}:cache:${namespace}`,
    useKeyPrefix: false,
  });
  // Without an error listener Keyv throws. Each failure is a miss here, and the connection logs the outage.
  for (const one of [adapter, keyv]) one?.on('error', () => undefined);

  async function attempt<R>(call: () => Promise<R>): Promise<R | undefined> {
    // Without a connection don't call Keyv: its adapter would reopen the closed one and wait for it.
    if (!redis || !adapter || !redis.client.isReady) return undefined;
    // After a failover there is a new client.
    if (adapter.client !== redis.client) adapter.client = redis.client;
    try {
      return await withinDeadline(call(), deadlineMs);
    } catch {
      return undefined;
    }
  }

  return {
    get: (key: string): Promise<T | undefined> => attempt(() => keyv.get<T>(key)),
    /** `ttlMs`: a whole number above 0. */
    async set(key: string, value: T, ttlMs: number): Promise<void> {
      await attempt(() => keyv.set(key, value, ttlMs));
    },
  };
}
