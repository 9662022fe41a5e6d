import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../src/store/check-redis.ts';
import { moveStore } from '../../src/store/move-store.ts';
import { openRedisStore, type ScriptRunner } from '../../src/store/redis-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { ownStorePath } from '../support/own-store.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';
import { compareWithModel } from './model.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: moving a store to Redis, because redis-server is not installed.');

const startMs = 1_700_000_000_000;
const asItIs = (_key: string, value: string): string => value;

describe.skipIf(missing)('moveStore', () => {
  const { connection } = redisForTests();

  /** Redis by a clock that the test moves, as the file is. */
  function redisAt(clock: { ms: number }): ScriptRunner {
    return {
      evalSha: async () => {
        throw new Error('NOSCRIPT');
      },
      eval: (script, options) =>
        connection().client.eval(
          script.replace(
            "redis.call('TIME')",
            `{ '${Math.floor(clock.ms / 1000)}', '${(clock.ms % 1000) * 1000}' }`,
          ),
          options,
        ),
    };
  }
  async function emptied(prefix: string): Promise<void> {
    const keys = await connection().client.keys(`{${prefix}}*`);
    if (keys.length > 0) await connection().client.del(keys);
  }

  it('changes no answer of the store, wherever in a sequence of commands it is moved', async () => {
    const clock = { ms: startMs };
    const folder = ownStorePath('move');
    const redis = redisAt(clock);
    let files = 0;
    let path = '';
    let current: Store = openSqliteStore({ path: join(folder, 'none'), now: () => clock.ms });
    let calls = 0;
    let moves = 0;
    async function moveIfTime(): Promise<void> {
      calls += 1;
      if (calls !== 1 + (files % 15)) return;
      await current.close();
      const end = await moveStore({ path, now: () => clock.ms, redis, prefix: 'model', change: asItIs });
      expect(end).toMatchObject({ kind: 'moved' });
      moves += 1;
      current = openRedisStore(redis, { prefix: 'model' });
    }
    const store = new Proxy({} as Store, {
      get:
        (_target, name: keyof Store) =>
        async (...args: never[]) => {
          await moveIfTime();
          return await (current[name] as (...given: never[]) => unknown)(...args);
        },
    });
    const clear = async (): Promise<void> => {
      await current.close();
      rmSync(path, { force: true });
      await emptied('model');
      files += 1;
      calls = 0;
      path = join(folder, String(files));
      current = openSqliteStore({ path, now: () => clock.ms });
    };
    const subject = { store, setClock: (ms: number) => void (clock.ms = ms), clear };
    await expect(compareWithModel(subject, { ttl: false, runs: 400 })).resolves.toBeUndefined();
    expect(moves).toBeGreaterThan(50);
    await current.close();
  });

  it('keeps what expires, what is due at once in its order, and the pause of a lane', async () => {
    const path = ownStorePath('move');
    let nowMs = startMs;
    const file = openSqliteStore({ path, now: () => nowMs });
    await file.create('stays', 'for ever', { index: { all: 1, few: -7 } });
    await file.create('ends', 'in a minute', { ttlMs: 60_000, index: { all: 2 } });
    await file.create('ended', 'long ago', { ttlMs: 1, index: { all: 3 } });
    await Promise.all(['c', 'a', 'b'].map((key) => file.create(key, key, { delayMs: 0, lane: 'due' })));
    await file.create('paused', 'p', { delayMs: 0, lane: 'paused' });
    nowMs += 10;
    const first = (await file.take(1_000)).at(0) ?? (await file.take(1_000)).at(0);
    if (!first) throw new Error('Nothing was due.');
    await file.write(first, first.value, { delayMs: 0, pauseMs: 300_000 });
    await file.close();

    const redis = connection().client;
    const move = { path, now: () => nowMs, redis, prefix: 'kept', change: asItIs };
    expect(await moveStore(move)).toEqual({
      kind: 'moved',
      records: 6,
      work: 4,
      places: 3,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const store = openRedisStore(redis, { prefix: 'kept' });
    expect(await store.read('ended')).toBeUndefined();
    expect((await store.list('all', { max: 9 })).entries.map(({ key }) => key)).toEqual(['stays', 'ends']);
    expect((await store.list('few', { max: 9 })).entries.map(({ key }) => key)).toEqual(['stays']);
    const ttl = await redis.pTTL('{kept}:record:ends');
    expect(ttl).toBeGreaterThan(50_000);
    expect(ttl).toBeLessThanOrEqual(60_000);
    expect(await redis.pTTL('{kept}:record:stays')).toBe(-1);
    const taken = [...(await store.take(1_000, 9)), ...(await store.take(1_000, 9))].map(({ key }) => key);
    expect(taken).toEqual(first.key === 'paused' ? ['c', 'a', 'b'] : ['paused']);
    expect(() => openSqliteStore({ path, now: () => nowMs })).toThrow('moved to Redis');
  });

  it('refuses a file that is open, and a Redis that has records, and changes neither', async () => {
    const path = ownStorePath('move');
    const file = openSqliteStore({ path, now: () => startMs });
    await file.create('one', 'here');
    const redis = connection().client;
    const other = openRedisStore(redis, { prefix: 'full' });
    await other.create('two', 'there');
    const move = { path, now: () => startMs, redis, prefix: 'full', change: asItIs };
    expect(await moveStore(move)).toEqual({ kind: 'in_use' });
    expect(await file.read('one')).toMatchObject({ value: 'here' });
    await file.close();
    expect(await moveStore(move)).toEqual({ kind: 'not_empty' });
    expect(await other.read('two')).toMatchObject({ value: 'there' });
    expect(await other.read('one')).toBeUndefined();
    await openSqliteStore({ path, now: () => startMs }).close();
  });

  it('broken off, keeps bots from starting on a part, and begins anew when it is run again', async () => {
    const path = ownStorePath('move');
    const file = openSqliteStore({ path, now: () => startMs });
    const keys = Array.from({ length: 250 }, (_, at) => `record ${at}`);
    await Promise.all(keys.map((key, at) => file.create(key, key, { index: { all: at } })));
    await file.close();
    const redis = connection().client;
    let pages = 0;
    const breaking: Pick<ScriptRunner, 'eval'> = {
      async eval(script, options) {
        if (options.arguments.length >= 450) pages += 1;
        if (pages > 1) throw new Error('The line broke.');
        return await redis.eval(script, options);
      },
    };
    const move = { path, now: () => startMs, prefix: 'broken', change: asItIs };
    await expect(moveStore({ ...move, redis: breaking })).rejects.toThrow('The line broke.');
    expect((await redis.keys('{broken}:record:*')).length).toBeGreaterThan(0);
    expect(await checkSchema(redis, 'broken')).toMatchObject({ kind: 'refusal' });
    // The bot went on with the file meanwhile.
    const again = openSqliteStore({ path, now: () => startMs });
    const [gone] = (await again.list('all', { max: 1 })).entries;
    if (gone) await again.write(gone, gone.value, { ttlMs: 0, index: {} });
    await again.close();
    expect(await moveStore({ ...move, redis })).toMatchObject({ kind: 'moved', records: 249, places: 249 });
    expect(await checkSchema(redis, 'broken')).toMatchObject({ kind: 'ok' });
    expect(await openRedisStore(redis, { prefix: 'broken' }).read('record 0')).toBeUndefined();
  });

  it('says so when Redis does not give back what was written, and lets no bot start there', async () => {
    const path = ownStorePath('move');
    const file = openSqliteStore({ path, now: () => startMs });
    await file.create('one', 'here', { delayMs: 0 });
    await file.close();
    const redis = connection().client;
    const forgetful: Pick<ScriptRunner, 'eval'> = {
      async eval(script, options) {
        const answer = await redis.eval(script, options);
        if (options.arguments[0] === 'one' && options.arguments.length > 1)
          await redis.hSet('{forgets}:record:one', { value: 'there' });
        return answer;
      },
    };
    const move = { path, now: () => startMs, redis: forgetful, prefix: 'forgets', change: asItIs };
    expect(await moveStore(move)).toMatchObject({
      kind: 'differs',
      written: { records: 1 },
      found: { records: 1 },
    });
    expect(await checkSchema(redis, 'forgets')).toMatchObject({ kind: 'refusal' });
    await openSqliteStore({ path, now: () => startMs }).close();
  });
});
