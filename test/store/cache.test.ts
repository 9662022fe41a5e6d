import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCache } from '../../src/store/cache.ts';
import { calmMs } from '../support/calm-ms.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the Redis cache tests, because redis-server is not installed.');

describe('createCache in memory', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('gives back what was set, until its time is over or it is deleted', async () => {
    const cache = createCache<{ page: number[] }>({ namespace: 'terminals', ttlMs: 1000 });
    await cache.set('a', { page: [1, 2] });
    await cache.set('b', { page: [] }, 5000);
    await cache.set('c', { page: [] });
    await cache.delete('c');
    expect(await cache.get('a')).toEqual({ page: [1, 2] });
    expect(await cache.get('c')).toBeUndefined();
    vi.advanceTimersByTime(1001);
    expect(await cache.get('a')).toBeUndefined();
    expect(await cache.get('b')).toEqual({ page: [] });
  });

  it('takes a time to live of nothing as stale already, never as for ever', async () => {
    const cache = createCache<string>({ namespace: 'token', ttlMs: 1000 });
    await cache.set('a', 'fresh');
    await cache.set('a', 'stale', 0);
    expect(await cache.get('a')).toBeUndefined();
    await cache.set('a', 'stale', -5);
    await cache.set('a', 'stale', Number.NaN);
    expect(await cache.get('a')).toBeUndefined();
  });

  it('does not grow for ever', async () => {
    const cache = createCache<number>({ namespace: 'pages', ttlMs: 1000 });
    for (let n = 0; n <= 1000; n += 1) await cache.set(String(n), n);
    expect(await cache.get('0')).toBeUndefined();
    expect(await cache.get('1')).toBe(1);
    expect(await cache.get('1000')).toBe(1000);
  });
});

describe.skipIf(missing)('createCache on Redis', () => {
  const { server, connection } = redisForTests();

  it('is one cache for all replicas, one namespace apart from another', async () => {
    const options = { redis: connection(), namespace: 'token', ttlMs: 60_000 };
    await createCache<string>(options).set('a', 'x');
    expect(await createCache<string>(options).get('a')).toBe('x');
    expect(await createCache<string>({ ...options, namespace: 'other' }).get('a')).toBeUndefined();
    await createCache<string>(options).set('b', 'y', 1500.5);
    expect(await connection().client.keys('*')).toEqual(
      expect.arrayContaining(['{payops}:cache:token::a', '{payops}:cache:token::b']),
    );
    expect(await connection().client.pTTL('{payops}:cache:token::b')).toBeGreaterThan(0);
    await createCache<string>(options).delete('a');
    expect(await createCache<string>(options).get('a')).toBeUndefined();
  });

  it('is a quick miss while Redis hangs, is dead, and after the connection was closed', async () => {
    const cache = createCache<string>({ redis: connection(), namespace: 'token', ttlMs: 60_000 });
    await cache.set('a', 'x');
    async function misses(): Promise<void> {
      const [found] = await Promise.all([cache.get('a'), cache.set('a', 'y'), cache.delete('b')]);
      expect(found).toBeUndefined();
    }
    async function expectMiss(): Promise<void> {
      expect(await calmMs(misses)).toBeLessThan(1000);
    }
    server().pause();
    await expectMiss();
    server().resume();
    await expect.poll(() => cache.get('a')).toBe('y');
    await server().kill9();
    await expectMiss();
    connection().close();
    await expectMiss();
    expect(connection().client.isOpen).toBe(false);
  });
});
