import { describe, expect, it } from 'vitest';
import { ServiceFailure, StoreUnavailable } from '../../src/domain/failure.ts';
import { createPutAside } from '../../src/records/put-aside.ts';
import { workOnce } from '../../src/records/worker.ts';
import { SealBroken, type Entry } from '../../src/store/store.ts';
import { memoryStore } from '../features/memory-store.ts';

const lane = 'C1';

/** A worker with one kind, whose `work` a test can change. */
function workshop(work: (entry: Entry) => Promise<void>) {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const told: string[] = [];
  const counted: string[] = [];
  const done: string[] = [];
  const fixes: unknown[] = [];
  const kind = {
    prefix: 'job:',
    async work(entry: Entry) {
      if (entry.key === 'job:good') done.push(entry.key);
      else await work(entry);
      await store.write(entry, entry.value);
    },
  };
  function start() {
    const aside = createPutAside({
      store,
      tell: async ({ key }) => void told.push(key),
      count: (reason) => void counted.push(reason),
      now: () => clock.nowMs,
      log: (_level, _message, about) => void fixes.push(about?.fix),
    });
    return async function workFor(ms: number): Promise<void> {
      const untilMs = clock.nowMs + ms;
      await aside.retryAll();
      for (; clock.nowMs < untilMs; clock.nowMs += 1_000) {
        while (await workOnce({ store, leaseMs: 45_000, kinds: aside.guard([kind]) }));
      }
    };
  }
  const put = (key: string) => store.create(key, 'kept', { delayMs: 0, lane });
  return { clock, store, told, counted, done, fixes, start, put };
}

function unreadable(): Promise<void> {
  return Promise.reject(new SyntaxError('not valid JSON'));
}

describe('a record that cannot be worked on', () => {
  it('is put aside at once if it is unreadable, reported once, and doesn’t block its lane', async () => {
    const { store, told, counted, done, start, put } = workshop(unreadable);
    await put('job:bad');
    await put('job:good');
    const workFor = start();
    await workFor(1_000);
    expect(done).toEqual(['job:good']);
    await workFor(7_200_000);
    expect({ told, counted }).toEqual({ told: ['job:bad'], counted: ['unreadable'] });
    expect(await store.read('job:bad')).toMatchObject({ value: 'kept', attempts: 1 });
  });

  it.each([
    [
      'its sealing key is missing',
      new SealBroken('Sealed with a key that is not configured'),
      'SEALING_KEYS',
    ],
    ['its text has another form', new SyntaxError('not valid JSON'), 'another release'],
  ])('is put aside with the fix for its cause in the log: %s', async (_, error, fix) => {
    const { fixes, start, put } = workshop(() => Promise.reject(error));
    await put('job:bad');
    await start()(1_000);
    expect(fixes).toEqual([expect.stringContaining(fix)]);
  });

  it('is put aside if its kind is unknown', async () => {
    const { store, told, start, put } = workshop(unreadable);
    await put('later:x');
    await start()(7_200_000);
    expect(told).toEqual(['later:x']);
    expect(await store.read('later:x')).toMatchObject({ value: 'kept', attempts: 1 });
  });

  it('is put aside after five failures over two minutes, and its lane continues meanwhile', async () => {
    const { store, told, counted, done, start, put } = workshop(() => {
      throw new TypeError('undefined is not a function');
    });
    await put('job:bad');
    await put('job:good');
    const workFor = start();
    await workFor(1_000);
    expect(done).toEqual(['job:good']);
    await workFor(119_000);
    expect(told).toEqual([]);
    await workFor(60_000);
    expect({ told, counted }).toEqual({ told: ['job:bad'], counted: ['failing'] });
    await workFor(7_200_000);
    expect(await store.read('job:bad')).toMatchObject({ value: 'kept', attempts: 5 });
  });

  it('frees its lane even if the failing work had extended its lease', async () => {
    const { store, done, start, put } = workshop(async (entry) => {
      await store.write(entry, 'under way', { holdMs: 45_000 });
      throw new TypeError('undefined is not a function');
    });
    await put('job:bad');
    await put('job:good');
    await start()(2_000);
    expect(done).toEqual(['job:good']);
    expect(await store.read('job:bad')).toMatchObject({ value: 'under way' });
  });

  it('stays finished if its work fails after finishing it', async () => {
    const { store, start, put } = workshop(async (entry) => {
      await store.write(entry, 'done');
      throw new TypeError('undefined is not a function');
    });
    await put('job:ended');
    await start()(600_000);
    expect(await store.read('job:ended')).toMatchObject({ value: 'done', attempts: 1 });
  });

  it('is due again at the next start, and put aside at most once per start', async () => {
    let isBroken = true;
    const { store, told, start, put } = workshop(async () => {
      if (isBroken) await unreadable();
    });
    await put('job:bad');
    await start()(60_000);
    await start()(60_000);
    expect(await store.read('job:bad')).toMatchObject({ attempts: 2 });
    isBroken = false;
    await start()(60_000);
    await start()(60_000);
    expect(await store.read('job:bad')).toMatchObject({ attempts: 3 });
    expect(told).toHaveLength(2);
  });

  it.each([
    ['the store', new StoreUnavailable('away')],
    ['the payments service', new ServiceFailure('timeout', 'away')],
    ['a network', Object.assign(new Error('away'), { code: 'ECONNRESET' })],
  ])('is not put aside while %s is away, but waits for its lease to end', async (_what, error) => {
    const { store, told, clock, start, put } = workshop(() => Promise.reject(error));
    await put('job:x');
    const workFor = start();
    for (let round = 0; round < 20; round += 1) {
      await expect(workFor(1_000)).rejects.toBe(error);
      clock.nowMs += 45_000;
    }
    expect(told).toEqual([]);
    expect(await store.read('job:x')).toMatchObject({ attempts: 20 });
  });
});
