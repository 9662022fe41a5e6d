import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore, type ScriptRunner } from '../../src/store/redis-store.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { Store } from '../../src/store/store.ts';
import { calmMs } from '../support/calm-ms.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';
import { startRedis } from '../support/redis-server.ts';
import { untilRedis } from '../support/redis-store.ts';
import { claimRace } from './claim-race.ts';
import { storeContract } from './contract.ts';
import { compareWithModel } from './model.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the Redis store tests, because redis-server is not installed.');

describe.skipIf(missing)('openRedisStore', () => {
  const { server, connection } = redisForTests();
  let prefixes = 0;
  function newStore(): Store {
    prefixes += 1;
    return openRedisStore(connection().client, { prefix: `test-${prefixes}` });
  }

  storeContract('Redis', async () => {
    prefixes += 1;
    const { client, shift } = withClock(connection().client);
    const store = openRedisStore(client, { prefix: `test-${prefixes}` });
    return { store, pass: passOnRedis, shift, close: () => store.close() };
  });

  async function redisNowMs(): Promise<number> {
    const [seconds, micros] = await connection().client.sendCommand<string[]>(['TIME']);
    return Number(seconds) * 1000 + Number(micros) / 1000;
  }
  async function passOnRedis(ms: number): Promise<void> {
    // One more, because Redis expires a key in the millisecond after its last one.
    const until = (await redisNowMs()) + ms + 1;
    for (let left = ms + 1; left > 0; left = until - (await redisNowMs())) await rest(left);
  }

  it('gives the model’s answers, for any order of calls', async () => {
    let clock: [seconds: string, micros: string] = ['0', '0'];
    // The real scripts, but with the test's clock instead of Redis's own.
    const client: ScriptRunner = {
      evalSha: async () => {
        throw new Error('NOSCRIPT');
      },
      eval: (script, options) =>
        connection().client.eval(
          script.replace("redis.call('TIME')", `{ '${clock[0]}', '${clock[1]}' }`),
          options,
        ),
    };
    const store = openRedisStore(client, { prefix: 'model' });
    const subject = {
      store,
      setClock: (ms: number) => {
        clock = [String(Math.floor(ms / 1000)), String((ms % 1000) * 1000)];
      },
      clear: async () => {
        const keys = await connection().client.keys('{model}*');
        if (keys.length > 0) await connection().client.del(keys);
      },
    };
    await expect(compareWithModel(subject, { ttl: false, runs: 100 })).resolves.toBeUndefined();
  });

  it('lets only one of two processes create each of 2,000 keys', async () => {
    const [one = 0, two = 0] = await claimRace(server().url, 2_000);
    expect(one + two).toBe(2_000);
    expect(Math.min(one, two)).toBeGreaterThan(0);
  });

  it('removes expired records from their lists, even if these are never read', async () => {
    const store = newStore();
    const names = Array.from({ length: 40 }, (_, at) => `gone ${at}`);
    await Promise.all(
      names.map((name) => store.create(name, '', { ttlMs: 1, index: { [`of ${name}`]: 1 } })),
    );
    await passOnRedis(1);
    for (let at = 0; at < 12; at += 1) await store.create(`stays ${at}`, '', { index: { all: at } });
    const keys = await connection().client.keys(`{test-${prefixes}}*gone*`);
    expect(keys).toEqual([]);
    expect((await store.list('all', { max: 50 })).entries).toHaveLength(12);
  });

  it('continues after Redis has forgotten its scripts', async () => {
    const store = newStore();
    await store.create('a', '');
    await connection().client.scriptFlush();
    expect(await store.create('a', '')).toBe(false);
    expect(await store.take(1000)).toEqual([]);
  });

  it('gives no version twice if Redis has lost the last ones, as after a failover', async () => {
    const store = newStore();
    await store.create('a', 'before', { delayMs: 0 });
    const before = await store.read('a');
    if (before === undefined) throw new Error('a is there');
    const [early] = await store.take(20);
    if (early === undefined) throw new Error('a was due');
    const root = `{test-${prefixes}}`;
    // The changes of `take` are lost: the lease, the version, the counter.
    await connection().client.hSet(`${root}:record:a`, { version: String(before.version) });
    await connection().client.hDel(`${root}:record:a`, ['lease', 'attempts']);
    await connection().client.set(`${root}:version`, String(before.version));
    await connection().client.del([`${root}:lane:a`, `${root}:blocked`]);
    await connection().client.zAdd(`${root}:ready`, { score: 0, value: 'a' });
    const [late] = await store.take(60_000);
    expect(late).toMatchObject({ key: 'a', attempts: 1 });
    expect(late?.version).not.toBe(early.version);
    expect(await store.write(early, 'from before')).toBeUndefined();
    expect(late && (await store.write(late, 'after'))).toMatchObject({ value: 'after' });
  });

  it('leaves nothing half done if Redis is out of memory', async () => {
    const store = newStore();
    await store.create('a', 'x', { delayMs: 0 });
    const [taken] = await store.take(20);
    if (taken === undefined) throw new Error('a was due');
    await passOnRedis(20);
    await connection().client.configSet('maxmemory', '1');
    await expect(store.create('b', '')).rejects.toThrow(StoreUnavailable);
    await expect(store.take(1000)).rejects.toThrow(StoreUnavailable);
    await expect(store.write(taken, 'y')).rejects.toThrow(StoreUnavailable);
    await connection().client.configSet('maxmemory', '0');
    expect(await store.read('b')).toBeUndefined();
    expect(await store.take(1000)).toMatchObject([{ key: 'a', value: 'x', attempts: 2 }]);
  });

  it('rejects a ping while Redis is out of memory', async () => {
    const store = newStore();
    await connection().client.configSet('maxmemory', '1');
    await expect(store.ping()).rejects.toMatchObject({ cause: { message: expect.stringMatching(/^OOM/) } });
    await connection().client.configSet('maxmemory', '0');
    await store.ping();
  });

  it('rejects a ping while Redis is a replica', async () => {
    const store = newStore();
    await connection().client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    await expect(store.ping()).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^READONLY/) },
    });
    await connection().client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    await store.ping();
  });

  it('rejects a ping while Redis cannot save to its disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'payops-redis-full-'));
    // A folder is in the place of the snapshot file.
    mkdirSync(join(folder, 'dump.rdb', 'in-the-way'), { recursive: true });
    const full = await startRedis({ args: ['--dir', folder, '--save', '3600 1'] });
    const filling = connectRedis({ url: full.url, log: () => undefined });
    await filling.tried;
    const store = openRedisStore(filling.commands);
    await store.ping();
    await filling.client.sendCommand(['BGSAVE']);
    await expect.poll(() => store.ping().catch((error: Error) => String(error.cause))).toMatch(/MISCONF/);
    filling.close();
    await full.stop();
    rmSync(folder, { recursive: true });
  });

  it('skips work that was deleted by hand', async () => {
    const store = newStore();
    await store.create('gone', '', { delayMs: 0 });
    await store.create('here', '', { delayMs: 0 });
    await connection().client.del(`{test-${prefixes}}:record:gone`);
    expect(await store.take(1000)).toMatchObject([{ key: 'here' }]);
    expect(await store.take(1000)).toEqual([]);
  });

  it('keeps every key under its hash tag, so that a Cluster keeps them on one node', async () => {
    await connection().client.flushAll();
    const store = newStore();
    for (const key of ['{a}', '}', 'b']) await store.create(key, '', { delayMs: 0, lane: `{${key}` });
    for (const entry of await store.take(1000)) await store.write(entry, '', { pauseMs: 1000, ttlMs: 1000 });
    await store.take(1000);
    const keys = await connection().client.keys('*');
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) expect(key.startsWith(`{test-${prefixes}}:`)).toBe(true);
  });

  it('rejects every call within 2.5 s while Redis hangs, and works within 3 s of its return', async () => {
    const store = openRedisStore(connection().commands, { prefix: 'hangs' });
    await store.create('kept', 'value');
    const entry = (await store.read('kept'))!;
    server().pause();
    const refuses = async () => {
      const calls = [
        store.create('a', ''),
        store.read('kept'),
        store.write(entry, ''),
        store.take(1),
        store.ping(),
      ];
      for (const call of await Promise.allSettled(calls))
        expect(call).toMatchObject({ reason: { name: 'StoreUnavailable' } });
    };
    expect(await calmMs(refuses)).toBeLessThan(2500);
    server().resume();
    const answers = () => untilRedis('it answers', () => store.ping().then(() => true));
    expect(await calmMs(answers)).toBeLessThan(3000);
  });

  it('refuses a prefix that would break the hash tag', () => {
    expect(() => openRedisStore(connection().client, { prefix: 'a}b' })).toThrow(RangeError);
  });
});

/** A Redis whose scripts read a clock that the test can set, in whole seconds. */
function withClock(redis: ScriptRunner): { client: ScriptRunner; shift: (ms: number) => void } {
  let secondsOff = 0;
  const time = "redis.call('TIME')";
  const set = (script: string) =>
    secondsOff === 0 ? script : script.replace(time, `{ ${time}[1] + (${secondsOff}), ${time}[2] }`);
  return {
    client: {
      async evalSha(sha1, options) {
        if (secondsOff === 0) return await redis.evalSha(sha1, options);
        throw new Error('NOSCRIPT');
      },
      eval: (script, options) => redis.eval(set(script), options),
    },
    shift: (ms) => void (secondsOff += Math.ceil(ms / 1_000)),
  };
}
