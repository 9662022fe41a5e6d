import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCache } from '../../src/store/cache.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { calmMs } from '../support/calm-ms.ts';
import { findProgram } from '../support/programs.ts';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.ts';
import { openForContract, openRedis } from '../support/redis-store.ts';
import { storeContract } from './contract.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the store on a Redis Cluster, because redis-server is not installed.');

describe.skipIf(missing)('the store on a Redis Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster?.stop());

  storeContract('a Redis Cluster of three nodes', () => openForContract(cluster.url));

  it('finds its node whichever of the nodes are named', async () => {
    for (const { port } of cluster.nodes) {
      const { store, close } = await openRedis({ url: `redis+cluster://127.0.0.1:1,127.0.0.1:${port}` });
      expect(await store.create('a', '')).toBe(true);
      close();
    }
  });

  it('refuses every call while its slot is being moved, gives no key twice, and goes on at the new node', async () => {
    const prefix = 'moved';
    const { slot, owner, other } = await cluster.ownerOf(`{${prefix}}`);
    const opened = await openRedis({ url: cluster.url, prefix });
    const { store } = opened;
    const cache = createCache<string>({ redis: opened, prefix, namespace: 'pages', ttlMs: 60_000 });
    await store.create('claimed', 'value', { delayMs: 0 });
    await cache.set('a', 'x');

    await cluster.beginMove(slot, owner, other);
    await expect(store.create('claimed', '')).rejects.toThrow(StoreUnavailable);
    await expect(store.create('fresh', '')).rejects.toThrow(StoreUnavailable);
    await expect(store.take(1_000)).rejects.toThrow(StoreUnavailable);
    await cluster.endMove(slot, owner, other);

    await expect.poll(() => store.create('claimed', ''), { interval: 20 }).toBe(false);
    expect(await store.take(60_000)).toMatchObject([{ key: 'claimed', value: 'value' }]);
    expect(await cache.get('a')).toBe('x');
    expect(opened.client.options?.socket).toMatchObject({ port: other.port });
    opened.close();
  });

  it('rejects at once while its node is dead, and is back within 3 s of its return', async () => {
    const prefix = 'killed';
    const { owner } = await cluster.ownerOf(`{${prefix}}`);
    const { store, close } = await openRedis({ url: cluster.url, prefix });
    await store.create('kept', '');
    await owner.kill9();
    async function refuses(): Promise<void> {
      for (let calls = 0; calls < 5; calls += 1) {
        await expect(store.create(`lost ${calls}`, '')).rejects.toThrow(StoreUnavailable);
      }
    }
    expect(await calmMs(refuses)).toBeLessThan(2_500);
    await owner.restart();
    await cluster.isWhole();
    const isKept = async () =>
      await expect.poll(() => store.create('kept', ''), { interval: 20 }).toBe(false);
    expect(await calmMs(isKept)).toBeLessThan(3_000);
    close();
  });
});
