import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../src/store/check-redis.ts';
import { moveStore } from '../../src/store/move-store.ts';
import { releaseScript } from '../../src/store/redis-scripts.ts';
import type { RedisClient } from '../../src/store/redis-node.ts';
import { openRedisStore, type ScriptRunner } from '../../src/store/redis-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { ownStorePath } from '../support/own-store.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: moving a store to Redis, because redis-server is not installed.');

const startMs = 1_700_000_000_000;
function scriptsOnly(run: ScriptRunner['eval']): ScriptRunner {
  return {
    evalSha: async () => {
      throw new Error('NOSCRIPT');
    },
    eval: run,
  };
}
const asItIs = (_key: string, value: string): string => value;

describe.skipIf(missing)('moveStore', () => {
  const { connection } = redisForTests();

  it('keeps each record with its lists, lane, order, attempts, due time and expiry', async () => {
    const path = ownStorePath('move');
    let nowMs = startMs;
    const file = openSqliteStore({ path, now: () => nowMs });
    await file.create('stays', 'for ever', { index: { all: 1, few: -7 } });
    await file.create('ends', 'in two minutes', { ttlMs: 120_000, index: { all: 2 } });
    await file.create('ending', 'soon', { ttlMs: 50_000, index: { all: 3 } });
    await Promise.all(['c', 'a', 'b'].map((key) => file.create(key, key, { delayMs: 0, lane: 'due' })));
    const [done, ...dead] = await file.take(1_000, 3);
    if (!done) throw new Error('Nothing was due.');
    // A finished record keeps its lane, and a record of a dead worker its attempts.
    await file.write(done, done.value, { pauseMs: 300_000 });
    await file.create('later', 'l', { delayMs: 3_600_000, lane: 'due' });
    nowMs += 10;
    await file.close();

    const redis = connection().client;
    const move = {
      path,
      now: () => nowMs,
      redis,
      prefix: 'kept',
      change: (_: string, text: string) => `${text}!`,
    };
    expect(await moveStore(move)).toEqual({ kind: 'moved', records: 6, work: 3 });
    const store = openRedisStore(redis, { prefix: 'kept' });
    expect(await store.read('ending')).toBeUndefined();
    expect((await store.list('all', { max: 9 })).entries.map(({ key }) => key)).toEqual(['stays', 'ends']);
    expect((await store.list('few', { max: 9 })).entries.map(({ value }) => value)).toEqual(['for ever!']);
    const ttl = await redis.pTTL('{kept}:record:ends');
    expect(ttl).toBeGreaterThan(100_000);
    expect(ttl).toBeLessThanOrEqual(120_000);
    expect(await redis.pTTL('{kept}:record:stays')).toBe(-1);
    expect(await store.read('c')).toMatchObject({ lane: 'due', attempts: 1 });
    expect(dead.map(({ key }) => key)).toEqual(['a', 'b']);
    const taken = await store.take(1_000, 9);
    expect(taken.map(({ key, attempts }) => [key, attempts])).toEqual([
      ['a', 2],
      ['b', 2],
    ]);
    const due = Number(await redis.zScore('{kept}:work:due', 'later')) / 1_000 - Date.now();
    expect(due).toBeGreaterThan(3_500_000);
    expect(due).toBeLessThanOrEqual(3_600_000);
    expect(() => openSqliteStore({ path, now: () => nowMs })).toThrow('moved to Redis');
  });

  it('refuses an open file and a Redis with records, and changes neither', async () => {
    const path = ownStorePath('move');
    const file = openSqliteStore({ path, now: () => startMs });
    await file.create('one', 'here');
    const redis = connection().client;
    const other = openRedisStore(redis, { prefix: 'full' });
    await other.create('two', 'there');
    const move = { path, now: () => startMs, redis, prefix: 'full', change: asItIs };
    await expect(moveStore(move)).rejects.toThrow('another process holds the store file');
    expect(await file.read('one')).toMatchObject({ value: 'here' });
    await file.close();
    expect(await moveStore(move)).toEqual({ kind: 'not_empty' });
    expect(await other.read('two')).toMatchObject({ value: 'there' });
    expect(await other.read('one')).toBeUndefined();
    await openSqliteStore({ path, now: () => startMs }).close();
  });

  it('keeps bots from starting on an interrupted move, and starts over when run again', async () => {
    const path = ownStorePath('move');
    const file = openSqliteStore({ path, now: () => startMs });
    const keys = Array.from({ length: 250 }, (_, at) => `record ${at}`);
    await Promise.all(keys.map((key, at) => file.create(key, key, { index: { all: at } })));
    await file.close();
    const redis = connection().client;
    let pages = 0;
    const breaking = scriptsOnly(async (script, options) => {
      if (options.arguments.length === 64 * 6) pages += 1;
      if (pages > 1) throw new Error('The line broke.');
      return await redis.eval(script, options);
    });
    const move = { path, now: () => startMs, prefix: 'broken', change: asItIs };
    await expect(moveStore({ ...move, redis: breaking })).rejects.toThrow(
      'Redis did not carry out the call.',
    );
    expect((await redis.keys('{broken}:record:*')).length).toBeGreaterThan(0);
    expect(await checkSchema(redis, 'broken')).toMatchObject({ kind: 'refusal' });
    // The bot continued on the file meanwhile.
    const again = openSqliteStore({ path, now: () => startMs });
    const [gone] = (await again.list('all', { max: 1 })).entries;
    if (gone) await again.write(gone, gone.value, { ttlMs: 0, index: {} });
    await again.close();
    expect(await moveStore({ ...move, redis })).toMatchObject({ kind: 'moved', records: 249 });
    expect(await checkSchema(redis, 'broken')).toMatchObject({ kind: 'ok' });
    expect(await openRedisStore(redis, { prefix: 'broken' }).read('record 0')).toBeUndefined();
  });

  it('moves no file a second time, except to end an interrupted move', async () => {
    const path = ownStorePath('move');
    await openSqliteStore({ path, now: () => startMs }).close();
    const redis = connection().client;
    const move = { path, now: () => startMs, prefix: 'first', change: asItIs };
    const breaking = scriptsOnly(async (script, options) => {
      if (script === releaseScript.text) throw new Error('The line broke.');
      return await redis.eval(script, options);
    });
    await expect(moveStore({ ...move, redis: breaking })).rejects.toThrow('The line broke.');
    expect(await moveStore({ ...move, redis })).toMatchObject({ kind: 'moved' });
    await openRedisStore(redis, { prefix: 'first' }).create('newer', 'only in Redis');
    // The file is older than Redis now, so a bot on a copy of it would repeat what was done since.
    expect(await moveStore({ ...move, redis, prefix: 'second' })).toEqual({ kind: 'was_moved' });
    expect(await redis.keys('{second}*')).toEqual([]);
    expect(await moveStore({ ...move, redis })).toEqual({ kind: 'was_moved' });
  });

  it.each<[string, (redis: RedisClient, root: string) => Promise<unknown>]>([
    ['the text', (redis, root) => redis.hSet(`${root}:record:one`, { value: 'there' })],
    ['the due time', (redis, root) => redis.zAdd(`${root}:work:one`, { value: 'one', score: 1 })],
    ['a place in a list', (redis, root) => redis.zAdd(`${root}:list:all`, { value: 'one', score: 8 })],
    ['a list', (redis, root) => redis.sRem(`${root}:lists:one`, 'all')],
    ['the number of attempts', (redis, root) => redis.hSet(`${root}:record:one`, { attempts: '3' })],
  ])(
    'says so when Redis does not give back %s as it was written, and lets no bot start there',
    async (what, forget) => {
      const path = ownStorePath('move');
      const file = openSqliteStore({ path, now: () => startMs });
      await file.create('one', 'here', { delayMs: 0, index: { all: 7 } });
      await file.close();
      const redis = connection().client;
      const prefix = `forgets-${what.replaceAll(' ', '-')}`;
      const forgetful = scriptsOnly(async (script, options) => {
        const answer = await redis.eval(script, options);
        if (options.arguments[0] === 'one') await forget(redis, `{${prefix}}`);
        return answer;
      });
      const move = { path, now: () => startMs, redis: forgetful, prefix, change: asItIs };
      expect(await moveStore(move)).toEqual({ kind: 'differs', records: 1 });
      expect(await checkSchema(redis, prefix)).toMatchObject({ kind: 'refusal' });
      await openSqliteStore({ path, now: () => startMs }).close();
    },
  );
});
