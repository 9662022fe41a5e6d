import { Keyv } from 'keyv';
import { withinDeadline } from './deadline.ts';
import type { RedisConnection } from './redis-client.ts';

/** For values that may be missed. Methods never throw, nor wait over half a second: a failure is a miss. */
type Cache<T> = {
  get(key: string): Promise<T | undefined>;
  /** `ttlMs`: whole, above 0. */
  set(key: string, value: T, ttlMs: number): Promise<void>;
};

const deadlineMs = 500;

/**
 * Shared by all replicas, on the store's connection; without Redis it always misses. Keys are under the store's hash tag,
 * so one access rule covers all. Values must survive JSON. The caller seals secrets. Never use it to decide something once:
 * Keyv has no set-if-absent.
 */
export function createCache<T>(
  redis: Pick<RedisConnection, 'client' | 'cacheAdapter'> | undefined,
  prefix: string,
  namespace: string,
): Cache<T> {
  const adapter = redis?.cacheAdapter();
  const keyv = new Keyv<T>({
    ...(adapter && { store: adapter }),
    namespace: `{${prefix}}:cache:${namespace}`,
    useKeyPrefix: false,
  });
  // Without a listener Keyv throws. Each failure is a miss; the connection logs the outage.
  for (const one of [adapter, keyv]) one?.on('error', () => undefined);

  async function attempt<R>(call: () => Promise<R>): Promise<R | undefined> {
    // Keyv's adapter would otherwise reopen a closed connection and wait for it.
    if (!redis || !adapter || !redis.client.isReady) return undefined;
    // A failover makes a new client.
    if (adapter.client !== redis.client) adapter.client = redis.client;
    try {
      return await withinDeadline(call(), deadlineMs);
    } catch {
      return undefined;
    }
  }

  return {
    get: (key) => attempt(() => keyv.get<T>(key)),
    async set(key, value, ttlMs) {
      await attempt(() => keyv.set(key, value, ttlMs));
    },
  };
}
