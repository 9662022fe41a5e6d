import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { createStoreMark, storeForm } from '../../src/store/store-mark.ts';
import type { Store } from '../../src/store/store.ts';
import { ownStorePath } from '../support/own-store.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';
import { knownOfDay, sampled, stepsOver, writeRedisSample, writeSqliteSample } from './sample-store.ts';

/** A store written by an earlier state of the release, opened by two processes. */
type Sample = { one: Store; two: Store; where: string; file?: string; close: () => Promise<unknown> };

describe('the store’s steps, on SQLite', () => {
  steps(async () => {
    const path = ownStorePath('steps');
    writeSqliteSample(path);
    const [one, two] = [0, 1].map(() => openSqliteStore({ path, now: () => Date.now() })) as [Store, Store];
    return { one, two, where: path, file: path, close: () => Promise.all([one.close(), two.close()]) };
  });
});

const missing = findProgram('redis-server') === undefined;
if (missing)
  console.warn('SKIPPED: the steps of the store’s form on Redis, because redis-server is not installed.');
describe.skipIf(missing)('the steps of the store’s form, on Redis', () => {
  const redis = redisForTests();
  steps(async () => {
    const { url } = redis.server();
    await writeRedisSample(redis.connection().client);
    const replicas = [0, 1].map(() => connectRedis({ url, log: () => undefined })) as [
      RedisConnection,
      RedisConnection,
    ];
    await Promise.all(replicas.map(({ tried }) => tried));
    const [one, two] = replicas.map(({ commands }) => openRedisStore(commands)) as [Store, Store];
    async function close(): Promise<void> {
      await Promise.all([one.close(), two.close()]);
      for (const replica of replicas) replica.close();
    }
    return { one, two, where: url, close };
  });
});

function steps(open: () => Promise<Sample>): void {
  let sample: Sample;
  let lines: string[];
  const log = (_level: string, message: string): void => void lines.push(message);
  const ofSample = (store = sample.one) => stepsOver(store, log, sample.file);
  const taken = (): string[] => lines.filter((line) => line.startsWith('the store took step'));
  beforeEach(async () => {
    lines = [];
    sample = await open();
    await sample.one.create(storeForm.key, '0');
  });
  afterEach(async () => await sample.close());

  async function end(key: string): Promise<void> {
    const entry = await sample.one.read(key);
    if (!entry) throw new Error(`There is no ${key}.`);
    await sample.one.write(entry, '', { ttlMs: 0 });
  }
  async function expectTaken(): Promise<void> {
    expect(await sample.one.read(storeForm.key)).toMatchObject({ value: '1' });
    expect(await knownOfDay(sample.one, 'main')).toEqual(sampled.main);
    expect(await knownOfDay(sample.one, 'lagos')).toEqual(sampled.lagos);
  }

  it('put older charges and links of each account into their lists, after copying the file', async () => {
    await ofSample().lookNow();
    await expectTaken();
    expect(taken()).toEqual(['the store took step 1: 3 records changed']);
    // The link keeps its due time and its other lists.
    expect(await sample.one.take(1_000)).toMatchObject([{ key: 'link:OLD-LINK', attempts: 1 }]);
    expect((await sample.one.list('links-of:U0AGENT01', { max: 9 })).entries).toHaveLength(1);
    await ofSample(sample.two).lookNow();
    expect(taken()).toHaveLength(1);
    if (sample.file === undefined) return;
    const copy = `${sample.file}.before-step-1`;
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const before = openSqliteStore({ path: copy, now: () => Date.now() });
    expect(await knownOfDay(before, 'main')).toEqual([]);
    expect(await before.read('link:OLD-LINK')).toBeDefined();
    await before.close();
  });

  it('wait for the last older replica to end, and are repeated after one that started again', async () => {
    const older = { ttlMs: 60_000, index: { replicas: 0 } };
    await sample.two.create('replica:older', '0', older);
    const steps = ofSample();
    await steps.lookNow();
    await steps.lookNow();
    expect(await knownOfDay(sample.one, 'main')).toEqual([]);
    expect(lines.filter((line) => line.includes('older replicas'))).toHaveLength(1);
    await end('replica:older');
    await steps.lookNow();
    await expectTaken();

    await sample.two.create('replica:back', '0', older);
    const charge = await sample.two.read(`charge:${sampled.main[0]}`);
    expect(charge && (await sample.two.write(charge, charge.value, { index: {} }))).toBeDefined();
    await steps.lookNow();
    await end('replica:back');
    await steps.lookNow();
    await expectTaken();
  });

  it('are repeated after an older release with fewer steps has run, however briefly', async () => {
    const form = await sample.one.read(storeForm.key);
    if (form) await sample.one.write(form, String(storeForm.newest + 1));
    await ofSample().lookNow();
    expect(await sample.one.read(storeForm.key)).toMatchObject({ value: String(storeForm.newest) });
  });

  it('wait for the key that opens this store', async () => {
    const steps = stepsOver(sample.one, log, sample.file, 'another key');
    await steps.lookNow();
    await steps.lookNow();
    expect(await sample.one.read(storeForm.key)).toMatchObject({ value: '0' });
    expect(lines).toEqual([]);
  });

  it('stop in the middle when an older replica starts, and announce this process meanwhile', async () => {
    await sample.one.take(60_000);
    const looking = ofSample(sample.two).lookNow();
    await expect.poll(() => knownOfDay(sample.one, 'lagos')).toEqual(sampled.lagos);
    const replicas = async () => (await sample.one.list('replicas', { max: 9 })).entries;
    for (const { key } of await replicas()) await end(key);
    await expect.poll(replicas, { timeout: 5_000 }).toHaveLength(1);
    await sample.one.create('replica:older', '0', { ttlMs: 60_000, index: { replicas: 0 } });
    await looking;
    expect(await sample.one.read(storeForm.key)).toMatchObject({ value: '0' });
  });

  it('are taken by one of two replicas that look at the same time', async () => {
    await Promise.all([ofSample(sample.one).lookNow(), ofSample(sample.two).lookNow()]);
    await expectTaken();
    expect(taken()).toHaveLength(1);
  });

  it('start over after a kill in the middle, once the lock has expired, and keep the earlier copy', async () => {
    const program = fileURLToPath(new URL('take-steps.ts', import.meta.url));
    const child = spawn(process.execPath, [program, sample.where], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    await ofSample(sample.two).lookNow();
    expect(await sample.one.read(storeForm.key)).toMatchObject({ value: '0' });
    await end('store-form:lock');
    await ofSample(sample.two).lookNow();
    await expectTaken();
    expect(taken()).toEqual(['the store took step 1: 3 records changed']);
    if (sample.file === undefined) return;
    const before = openSqliteStore({ path: `${sample.file}.before-step-1`, now: () => Date.now() });
    expect([...(await knownOfDay(before, 'main')), ...(await knownOfDay(before, 'lagos'))]).toEqual([]);
    await before.close();
  });

  it('wait for records that a worker has, and leave records that no configured key opens', async () => {
    await sample.one.create('charge:unread', 'no sealed text');
    const [link] = await sample.one.take(60_000);
    const looking = ofSample(sample.two).lookNow();
    await expect.poll(() => knownOfDay(sample.one, 'lagos')).toEqual(sampled.lagos);
    expect(await knownOfDay(sample.one, 'main')).toEqual([sampled.main[0]]);
    expect(link && (await sample.one.write(link, link.value, { delayMs: 60_000 }))).toBeDefined();
    await looking;
    await expectTaken();
    expect(taken()).toEqual(['the store took step 1: 3 records changed; 1 can’t be read here and stayed']);
  });
}

describe('the copy before a step', () => {
  let path: string;
  let store: Store;
  let lines: string[];
  const log = (_level: string, message: string): void => void lines.push(message);
  beforeEach(async () => {
    path = ownStorePath('copied');
    lines = [];
    writeSqliteSample(path);
    store = openSqliteStore({ path, now: () => Date.now() });
    await store.create(storeForm.key, '0');
  });
  afterEach(async () => await store.close());

  it('is made while the bot works', async () => {
    // A file that takes long enough to copy.
    const text = 'x'.repeat(20_000);
    await Promise.all(Array.from({ length: 2_000 }, (_, index) => store.create(`large:${index}`, text)));
    const looking = stepsOver(store, log, path).lookNow();
    const copy = `${path}.before-step-1`;
    while (!existsSync(`${copy}.part`) && !existsSync(copy)) await setImmediate();
    expect(existsSync(copy)).toBe(false);
    await looking;
    expect(existsSync(copy)).toBe(true);
  });

  it('is retried less and less often while it fails', async () => {
    mkdirSync(`${path}.before-step-1.part`);
    const steps = stepsOver(store, log, path);
    const tries: number[] = [];
    for (let look = 1; look <= 20; look += 1) {
      await steps.lookNow();
      const count = lines.filter((line) => line === 'the store takes step 1').length;
      if (count > tries.length) tries.push(look);
    }
    expect(tries).toEqual([1, 3, 6, 11, 20]);
  });
});

it('a step that fails is logged once, with the fix of its cause', async () => {
  const lines: unknown[] = [];
  const store = {
    read: () => Promise.reject(new StoreUnavailable('No.', new Error('database or disk is full'))),
  } as unknown as Store;
  const steps = stepsOver(store, (level, _words, fields) => lines.push([level, fields?.['fix']]), undefined);
  await steps.lookNow();
  await steps.lookNow();
  const fix = expect.stringContaining('Free some of it');
  expect(lines).toEqual([
    ['warn', fix],
    ['debug', fix],
  ]);
});

it('a new store starts with all steps done, and is not copied', async () => {
  const path = ownStorePath('new');
  const store = openSqliteStore({ path, now: () => Date.now() });
  const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 7) }]);
  await createStoreMark({ store, sealer }).claim(async () => undefined);
  await stepsOver(store, () => undefined, path).lookNow();
  expect(await store.read(storeForm.key)).toMatchObject({ value: String(storeForm.newest) });
  expect(existsSync(`${path}.before-step-1`)).toBe(false);
  await store.close();
});
