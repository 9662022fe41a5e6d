import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { Store } from '../../src/store/store.ts';
import { calmMs } from '../support/calm-ms.ts';
import { findProgram } from '../support/programs.ts';
import { end, freePort, launchOnPort, startRedis, type RedisServer } from '../support/redis-server.ts';
import { askRedis, openRedis, tryRedis, untilRedis } from '../support/redis-store.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the store under Redis Sentinels, because redis-server is not installed.');

type Writer = ReturnType<typeof writeSteadily>;

/**
 * Creates one record after another. Remembers the keys that were acknowledged, and how long the slowest answer or
 * refusal took.
 */
function writeSteadily(store: Store, name: string) {
  const writer = {
    answered: [] as string[],
    refusals: [] as unknown[],
    slowestMs: 0,
    /** Keys since the last refusal. */
    answersAgain: false,
    isStopped: false,
    async stop() {
      writer.isStopped = true;
      await written;
    },
  };
  async function write(): Promise<void> {
    for (let n = 0; !writer.isStopped; n += 1) {
      const key = `${name} ${n}`;
      const took = await calmMs(async () => {
        try {
          await store.create(key, '');
          writer.answered.push(key);
          writer.answersAgain = writer.refusals.length > 0;
        } catch (error) {
          writer.refusals.push(error);
          writer.answersAgain = false;
        }
      });
      writer.slowestMs = Math.max(writer.slowestMs, took);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  const written = write();
  return writer;
}

/** The time until calls are answered again. */
function backMs(writer: Writer): Promise<number> {
  return calmMs(() => untilRedis('it answers again', async () => writer.answersAgain));
}

describe.skipIf(missing).concurrent('the store under Redis Sentinels', () => {
  let redis: SentinelRedis;
  beforeAll(async () => {
    redis = await startSentinelRedis({ replicas: 2 });
  });
  afterAll(() => redis?.stop());

  it.sequential('finds the master if only one of the named Sentinels is up', async () => {
    const [port] = redis.sentinels.map((sentinel) => sentinel.port);
    const url = `redis+sentinel://127.0.0.1:1,127.0.0.1:${port}/${masterName}`;
    const { store, client, close } = await openRedis({ url });
    expect(await store.create('a', '')).toBe(true);
    expect(client.options?.socket).toMatchObject({ port: redis.master.port });
    close();
  });

  it.sequential('logs once that no Sentinel knows a master of that name', async () => {
    const { store, lines, close } = await tryRedis({ url: redis.url.replace(masterName, 'nobody') });
    await expect(store.ping()).rejects.toThrow(StoreUnavailable);
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { text: expect.stringContaining('No such master') },
    ]);
    close();
  });

  it.sequential('warns if it waits for no replica, with the fix, and otherwise not', async () => {
    const careless = await openRedis({ url: redis.url });
    expect(careless.lines).toMatchObject([
      { level: 'warn', text: expect.stringContaining('REDIS_WAIT_REPLICAS') },
    ]);
    const careful = await openRedis({ url: redis.url, waitReplicas: 1 });
    expect(careful.lines).toEqual([]);
    careless.close();
    careful.close();
  });

  it.sequential('does not acknowledge changes that too few replicas have', async () => {
    const [{ store, close }, other] = await Promise.all([
      openRedis({ url: redis.url, waitReplicas: 2, prefix: 'waited' }),
      openRedis({ url: redis.url, waitReplicas: 2, prefix: 'waited' }),
    ]);
    expect(await store.create('on three', '')).toBe(true);
    const [replica] = redis.replicas;
    replica?.pause();
    const refuses = async () => await expect(store.create('on two', '')).rejects.toThrow(StoreUnavailable);
    expect(await calmMs(refuses)).toBeLessThan(2_500);
    // Another bot must not take it for stored either: it would treat a repeated event as a duplicate.
    await expect(other.store.create('on two', '')).rejects.toThrow(StoreUnavailable);
    replica?.resume();
    await untilRedis('three have it', () => store.create('on three again', ''));
    expect(await other.store.create('on two', '')).toBe(false);
    close();
    other.close();
  });

  // Sequential, because Sentinels without enough processor time retry a failover again and again.
  it.sequential('refuses calls in time during a failover, works within 3 s of the new master, and keeps acknowledged changes', async () => {
    let others = 0;
    const [alone, waited] = await Promise.all([
      openRedis({ url: redis.url, waitReplicas: 0, onOtherNode: () => (others += 1) }),
      openRedis({ url: redis.url, waitReplicas: 1 }),
    ]);
    await waited.store.create('held', 'before', { delayMs: 0 });
    const [held] = await waited.store.take(60_000);
    if (held === undefined) throw new Error('held was due');
    const first = writeSteadily(alone.store, 'alone');
    const second = writeSteadily(waited.store, 'waited');
    const writers = [first, second];
    await untilRedis('both write', async () => writers.every(({ answered }) => answered.length > 20));

    await redis.master.kill9();
    const startedAt = performance.now();
    const refuses = async () =>
      await expect(waited.store.write(held, 'lost')).rejects.toThrow(StoreUnavailable);
    expect(await calmMs(refuses)).toBeLessThan(2_500);
    const promoted = await redis.failedOver();
    const promotedAt = performance.now();
    const [aloneMs, waitedMs] = await Promise.all([
      backMs(first),
      // While the new master has no replica, there is nothing to wait for.
      redis.followed(promoted).then(() => backMs(second)),
    ]);
    console.log(
      `a new master after ${Math.round(promotedAt - startedAt)} ms; used ${Math.round(aloneMs)} ms later, with a replica waited for ${Math.round(waitedMs)} ms after it had one`,
    );
    expect(Math.max(aloneMs, waitedMs)).toBeLessThan(3_000);
    await Promise.all(writers.map((writer) => writer.stop()));

    for (const { slowestMs, refusals } of writers) {
      expect(slowestMs).toBeLessThan(2_500);
      for (const refusal of refusals) expect(refusal).toBeInstanceOf(StoreUnavailable);
    }
    expect(waited.client.options?.socket).toMatchObject({ port: promoted.port });
    // Without waiting for a replica the last changes may be lost.
    const kept = second.answered;
    expect(kept.length).toBeGreaterThan(20);
    const found = await Promise.all(kept.map((key) => waited.store.read(key)));
    expect(kept.filter((_key, n) => found[n] === undefined)).toEqual([]);
    // A lease from the old master counts on the new one.
    expect(await waited.store.take(1_000)).toEqual([]);
    expect(await waited.store.write(held, 'after')).toMatchObject({ value: 'after' });
    expect(others).toBe(1);
    for (const { lines, close } of [alone, waited]) {
      // Sentinels may close the first connection to the new master, which is a separate outage.
      const told = lines.filter(({ level }) => level !== 'warn').map(({ level }) => level);
      expect(told.length).toBeGreaterThan(1);
      told.forEach((level, n) => expect(level).toBe(n % 2 === 0 ? 'error' : 'info'));
      expect(lines.at(-1)).toMatchObject({ level: 'info', text: expect.stringContaining('answers again') });
      close();
    }
  }, 300_000);

  it.sequential('ignores the old master when it comes back', async () => {
    await redis.agreedOn(await redis.failedOver());
    await redis.master.restart();
    const { store, client, close } = await openRedis({ url: redis.url });
    expect(await store.create('after all', '')).toBe(true);
    expect(client.options?.socket).not.toMatchObject({ port: redis.master.port });
    close();
  });
});

describe.skipIf(missing).concurrent('the store under a Sentinel with a password', () => {
  it.sequential('sends the password to a Sentinel that asks for it, and never logs it', async () => {
    const redis = await startRedis({ args: ['--requirepass', 'hunter:22'] });
    const secured = [`requirepass hunter:22`, `sentinel auth-pass ${masterName} hunter:22`];
    const sentinel = await startSentinel(redis.port, secured);
    try {
      const url = `redis+sentinel://:hunter%3A22@127.0.0.1:${sentinel.port}/${masterName}`;
      const { store, close } = await openRedis({ url });
      expect(await store.create('a', '')).toBe(true);
      close();
      const wrong = await tryRedis({ url: url.replace('hunter', 'ranger') });
      await expect(wrong.store.ping()).rejects.toThrow(StoreUnavailable);
      expect(wrong.lines.at(-1)?.text).toContain('WRONGPASS');
      expect(JSON.stringify(wrong.lines)).not.toMatch(/ranger|:22/);
      wrong.close();
    } finally {
      await sentinel.stop();
      await redis.stop();
    }
  });
});

type Sentinel = { readonly port: number; stop(): Promise<void> };

type SentinelRedis = {
  /** The address with all Sentinels. */
  readonly url: string;
  readonly master: RedisServer;
  readonly replicas: readonly RedisServer[];
  readonly sentinels: readonly Sentinel[];
  /** Resolves once the Sentinels name another master than the first, and that node is a master. */
  failedOver(): Promise<RedisServer>;
  /** Resolves once a replica follows the node, so that Redis can do what REDIS_WAIT_REPLICAS asks for. */
  followed(master: RedisServer): Promise<void>;
  /** Resolves once all Sentinels name this master, not only the one that promoted it. */
  agreedOn(master: RedisServer): Promise<void>;
  stop(): Promise<void>;
};

const masterName = 'payops-master';

/** A master with replicas, and three Sentinels that replace it soon after it is gone; all on loopback. */
async function startSentinelRedis({ replicas: count = 1 } = {}): Promise<SentinelRedis> {
  // Otherwise a full copy waits 5 s for more replicas.
  const args = ['--repl-diskless-sync-delay', '0'];
  const master = await startRedis({ args });
  const follow = [...args, '--replicaof', '127.0.0.1', String(master.port)];
  const replicas = await Promise.all(Array.from({ length: count }, () => startRedis({ args: follow })));
  await untilRedis('the replicas have all', async () =>
    String(await askRedis(master.port, 'INFO', 'replication')).includes(`connected_slaves:${count}`),
  );
  const sentinels = await Promise.all([0, 1, 2].map(() => startSentinel(master.port)));
  await untilRedis('the Sentinels know each other and the replicas', async () => {
    const views = await Promise.all(sentinels.map(({ port }) => masterSeenBy(port)));
    return views.every((view) => view['num-other-sentinels'] === '2' && view['num-slaves'] === String(count));
  });

  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${masterName}`,
    master,
    replicas,
    sentinels,
    async failedOver() {
      let promoted: RedisServer | undefined;
      await untilRedis('another master', async () => {
        const views = await Promise.all(
          sentinels.map(({ port }) => masterSeenBy(port).catch(() => undefined)),
        );
        promoted = replicas.find(({ port }) => views.some((view) => view?.['port'] === String(port)));
        if (promoted === undefined) return false;
        return String(await askRedis(promoted.port, 'ROLE')).startsWith('master');
      });
      if (promoted === undefined) throw new Error('no master');
      return promoted;
    },
    followed: ({ port }) =>
      untilRedis(
        'it has a replica',
        async () => /^slave\d+:.*state=online/m.test(String(await askRedis(port, 'INFO', 'replication'))),
        200_000,
      ),
    agreedOn: (promoted) =>
      untilRedis('all Sentinels name it', async () => {
        const views = await Promise.all(sentinels.map(({ port }) => masterSeenBy(port)));
        return views.every((view) => view['port'] === String(promoted.port));
      }),
    async stop() {
      await Promise.all([...sentinels, ...replicas, master].map((server) => server.stop()));
    },
  };
}

/** `settings`: lines of the configuration file. */
async function startSentinel(masterPort: number, settings: readonly string[] = []): Promise<Sentinel> {
  const program = findProgram('redis-server');
  if (program === undefined) throw new Error('redis-server is not installed.');
  const folder = mkdtempSync(join(tmpdir(), 'payops-sentinel-'));
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${masterName} 500`,
    `sentinel failover-timeout ${masterName} 3000`,
    ...settings,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child: ChildProcess = await launchOnPort(program, [file, '--sentinel'], 'Sentinel ID is');
  return {
    port,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function masterSeenBy(port: number): Promise<Record<string, string>> {
  const words = (await askRedis(port, 'SENTINEL', 'MASTER', masterName)) as string[];
  return Object.fromEntries(words.flatMap((word, n) => (n % 2 === 0 ? [[word, words[n + 1] ?? '']] : [])));
}
