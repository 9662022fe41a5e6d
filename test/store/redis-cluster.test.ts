import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCache } from '../../src/store/cache.ts';
import { connectRedis } from '../../src/store/redis-client.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { explainStoreError } from '../../src/store/explain-error.ts';
import { calmMs } from '../support/calm-ms.ts';
import { findProgram } from '../support/programs.ts';
import { freePort, startRedis, type RedisServer } from '../support/redis-server.ts';
import { askRedis, openRedis, untilRedis } from '../support/redis-store.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the store on a Redis Cluster, because redis-server is not installed.');

describe.skipIf(missing)('the store on a Redis Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster?.stop());

  it('finds the serving node from any of the nodes', async () => {
    for (const { port } of cluster.nodes) {
      const { store, close } = await openRedis({ url: `redis+cluster://127.0.0.1:1,127.0.0.1:${port}` });
      expect(await store.create('a', '')).toBe(true);
      close();
    }
  });

  it('finds it on a Cluster whose nodes announce no host names, if its address names that node', async (test) => {
    const prefix = 'nameless';
    const { owner, other } = await cluster.ownerOf(`{${prefix}}`);
    const announce = (type: string) =>
      Promise.all(
        cluster.nodes.map(({ port }) =>
          askRedis(port, 'CONFIG', 'SET', 'cluster-preferred-endpoint-type', type),
        ),
      );
    test.onTestFinished(() => announce('ip').then(() => undefined));
    await announce('hostname');
    const at = (...nodes: RedisServer[]) =>
      connectRedis({
        url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
        log: () => undefined,
        prefix,
      });
    const [all, one] = [at(...cluster.nodes), at(other)];
    test.onTestFinished(() => [all, one].forEach(({ close }) => close()));
    await Promise.all([all.tried, one.tried]);
    expect(all.failure()).toBeUndefined();
    expect(all.client.options?.socket).toMatchObject({ port: owner.port });
    expect(explainStoreError(one.failure() ?? '')?.fix).toContain('with several of its nodes');
  });

  it('refuses every call while its slot is being moved, creates no key twice, and continues on the new node', async () => {
    const prefix = 'moved';
    const { slot, owner, other } = await cluster.ownerOf(`{${prefix}}`);
    const opened = await openRedis({ url: cluster.url, prefix });
    const { store } = opened;
    const cache = createCache<string>(opened, prefix, 'pages');
    await store.create('claimed', 'value', { delayMs: 0 });
    await cache.set('a', 'x', 60_000);

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

  it('rejects at once while its node is dead, and works within 3 s of its return', async () => {
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

type RedisCluster = {
  /** The address with all nodes. */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  /** The node that owns the key's slot, and one that does not. */
  ownerOf(key: string): Promise<{ slot: number; owner: RedisServer; other: RedisServer }>;
  /** Starts moving the slot: for missing records the owner now answers ASK with the target. */
  beginMove(slot: number, from: RedisServer, to: RedisServer): Promise<void>;
  /** Moves the records, and makes the target the owner. */
  endMove(slot: number, from: RedisServer, to: RedisServer): Promise<void>;
  /** Resolves once every node knows the others and all slots are served. */
  isWhole(): Promise<void>;
  stop(): Promise<void>;
};

const slots = 16_384;

/** The test's own Cluster on loopback: three masters that share the slots, without replicas. */
async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all([0, 1, 2].map(startNode));
  const bounds = [0, 5_461, 10_923, slots];
  await Promise.all(
    nodes.map(({ node }, n) => {
      const [from = 0, until = 0] = bounds.slice(n);
      return askRedis(node.port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(until - 1));
    }),
  );
  const [first, ...rest] = nodes;
  if (first === undefined) throw new Error('no node');
  for (const { node, busPort } of rest) {
    await askRedis(first.node.port, 'CLUSTER', 'MEET', '127.0.0.1', String(node.port), String(busPort));
  }
  const servers = nodes.map(({ node }) => node);
  const cluster = handle(servers);
  await cluster.isWhole();
  return cluster;
}

async function startNode(): Promise<{ node: RedisServer; busPort: number }> {
  // Set it, because for most free ports the default (port + 10,000) is not a valid port.
  const busPort = await freePort();
  // The test cuts no power: a killed process's writes survive without waiting for the disk.
  const settings = `--appendfsync no --cluster-enabled yes --cluster-node-timeout 500 --cluster-port ${busPort}`;
  return { node: await startRedis({ args: settings.split(' ') }), busPort };
}

function handle(nodes: readonly RedisServer[]): RedisCluster {
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    async ownerOf(key) {
      const slot = Number(await askRedis(nodes[0]?.port ?? 0, 'CLUSTER', 'KEYSLOT', key));
      const owns = await Promise.all(
        nodes.map(({ port }) =>
          askRedis(port, 'EXISTS', key).then(
            () => true,
            () => false,
          ),
        ),
      );
      const owner = nodes[owns.indexOf(true)];
      const other = nodes[owns.indexOf(false)];
      if (owner === undefined || other === undefined) throw new Error(`nobody owns ${key}`);
      return { slot, owner, other };
    },
    async beginMove(slot, from, to) {
      await setSlot(to, slot, 'IMPORTING', await idOf(from));
      await setSlot(from, slot, 'MIGRATING', await idOf(to));
    },
    async endMove(slot, from, to) {
      const keys = (await askRedis(from.port, 'CLUSTER', 'GETKEYSINSLOT', String(slot), '1000')) as string[];
      const where = ['127.0.0.1', String(to.port), '', '0', '5000'];
      await askRedis(from.port, 'MIGRATE', ...where, 'KEYS', ...keys);
      const owner = await idOf(to);
      for (const node of [to, from, ...nodes]) await setSlot(node, slot, 'NODE', owner);
    },
    isWhole: () =>
      untilRedis('every node knows the others', async () => {
        const infos = await Promise.all(nodes.map(({ port }) => askRedis(port, 'CLUSTER', 'INFO')));
        return infos.every((info) => /state:ok[^]*slots_ok:16384[^]*known_nodes:3/.test(String(info)));
      }),
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function idOf({ port }: RedisServer): Promise<string> {
  return String(await askRedis(port, 'CLUSTER', 'MYID'));
}

async function setSlot({ port }: RedisServer, slot: number, ...words: string[]): Promise<void> {
  await askRedis(port, 'CLUSTER', 'SETSLOT', String(slot), ...words);
}
