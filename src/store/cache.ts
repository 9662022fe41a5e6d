import { Keyv } from 'keyv';
import { withinDeadline } from './deadline.ts';
import type { RedisConnection } from './redis-client.ts';

/** Where a wrong answer is harmless. No method ever throws or waits longer than half a second: a failure is a miss. */
type Cache<T> = {
  get(key: string): Promise<T | undefined>;
  /** `ttlMs`: whole, and more than 0. */
  set(key: string, value: T, ttlMs: number): Promise<void>;
};

const deadlineMs = 500;

/**
 * Shared by all replicas, on the store's own connection; without a Redis it misses always. Its keys stand under the
 * store's hash tag, so that one access rule covers all. Values must survive JSON. What is secret is sealed by the caller.
 * Never use it to decide anything once: Keyv has no set-if-absent.
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
  // Without a listener Keyv throws; the failure itself is a miss, and the connection's own log tells of an outage.
  for (const one of [adapter, keyv]) one?.on('error', () => undefined);

  async function attempt<R>(call: () => Promise<R>): Promise<R | undefined> {
    // Keyv's adapter would otherwise open a closed connection anew and wait for it.
    if (!redis || !adapter || !redis.client.isReady) return undefined;
    // A failover makes another.
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
