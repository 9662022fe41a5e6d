import { describe, expect, it } from 'vitest';
import { createCache } from '../../src/store/cache.ts';
import { calmMs } from '../support/calm-ms.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the Redis cache tests, because redis-server is not installed.');

it('createCache without Redis always misses', async () => {
  const cache = createCache<string>(undefined, 'payops', 'token');
  await cache.set('a', 'x', 1_000);
  expect(await cache.get('a')).toBeUndefined();
});

describe.skipIf(missing)('createCache on Redis', () => {
  const { server, connection } = redisForTests();
  const open = (namespace: string) => createCache<string>(connection(), 'payops', namespace);

  it('is shared by all replicas, keeps namespaces apart, and expires', async () => {
    await open('token').set('a', 'x', 60_000);
    await open('token').set('b', 'y', 1);
    expect(await open('token').get('a')).toBe('x');
    expect(await open('other').get('a')).toBeUndefined();
    await expect.poll(() => open('token').get('b')).toBeUndefined();
    expect(await connection().client.keys('*')).toEqual(['{payops}:cache:token::a']);
  });

  it('misses quickly while Redis hangs or is dead, and after the connection was closed', async () => {
    const cache = open('token');
    await cache.set('a', 'x', 60_000);
    async function misses(): Promise<void> {
      const [found] = await Promise.all([cache.get('a'), cache.set('a', 'y', 60_000)]);
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
