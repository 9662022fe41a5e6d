import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { createPutAside, asideList } from '../../src/records/put-aside.ts';
import { createRecords } from '../../src/records/records.ts';
import { workOnce, startWorker } from '../../src/records/worker.ts';
import { createSealer } from '../../src/store/sealed.ts';
import type { Entry, Store } from '../../src/store/store.ts';
import { fastClock } from '../support/fast-clock.ts';
import { ownStore, ownStorePath } from '../support/own-store.ts';

const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 'k') }]);
const lane = 'C1';
const old = z.object({ amount: z.number() });
/** A newer release reads the records of the one before it. */
const changed = z.union([z.object({ money: z.object({ minor: z.number() }) }), old]);

/** A clock ten times as fast, so that a second takes a tenth. */
const now = fastClock({ fromMs: Date.now(), factor: 10 });
const open = (): Store => ownStore({ path: ownStorePath('releases'), now });

/** The store as a newer release sees it: that release marks the records it writes, and reads marked ones. */
function marking(store: Store): Store {
  const mark = '2 ';
  const unmarked = (entry: Entry): Entry => ({
    ...entry,
    value: entry.value.startsWith(mark) ? entry.value.slice(mark.length) : entry.value,
  });
  return {
    ...store,
    create: (key, value, options) => store.create(key, mark + value, options),
    write: (entry, value, options) => store.write(entry, mark + value, options),
    async read(key) {
      const entry = await store.read(key);
      return entry && unmarked(entry);
    },
    take: async (...asked) => (await store.take(...asked)).map(unmarked),
    async list(name, options) {
      const listed = await store.list(name, options);
      return { ...listed, entries: listed.entries.map(unmarked) };
    },
  };
}

/** One replica of a release. */
function release(store: Store, schema: z.ZodType) {
  const records = createRecords(
    { store, sealer, wait: rest },
    { prefix: 'job:', schema, lists: () => ({ jobs: 1 }) },
  );
  const worked: string[] = [];
  const told: string[] = [];
  const lines: string[] = [];
  const aside = createPutAside({
    store,
    tell: async ({ key }) => void told.push(key),
    count: () => undefined,
    now,
    log: (_level, message) => void lines.push(message),
  });
  async function work(entry: Entry): Promise<void> {
    records.open(entry);
    worked.push(records.idOf(entry));
    await store.write(entry, entry.value);
  }
  /** Reads another record, as an alert's message reads its case. */
  async function workAbout(entry: Entry): Promise<void> {
    await records.read(entry.key.slice('about:'.length));
    worked.push(entry.key);
    await store.write(entry, entry.value);
  }
  const prepare = { lanes: 'C', most: 5, run: async (entry: Entry) => entry };
  const kinds = aside.guard([
    { prefix: 'job:', work, prepare },
    { prefix: 'about:', work: workAbout, prepare },
  ]);
  /** With one `idleMs` for both, one replica would look first every time. */
  const start = ({ idleMs = 10 } = {}) =>
    startWorker({
      workOnce: () => workOnce({ store, leaseMs: 45_000, kinds, now }),
      concurrency: 2,
      idleMs,
      failureDelayMs: 10,
      log: (_level, message) => void lines.push(message),
    });
  return { records, worked, told, lines, start };
}

describe('two releases side by side', () => {
  it('leave a newer record to the newer release: not put aside, not overtaken in its lane, logged once', async () => {
    const store = open();
    const [older, newer] = [release(store, old), release(marking(store), changed)];
    await older.records.create('1', { amount: 5 }, { delayMs: 0, lane });
    await newer.records.create('2', { money: { minor: 5 } }, { delayMs: 0, lane });
    await older.records.create('3', { amount: 7 }, { delayMs: 0, lane });
    await older.records.create('elsewhere', { amount: 9 }, { delayMs: 0, lane: 'D1' });
    const worker = older.start();
    await vi.waitFor(() => expect(older.worked.toSorted()).toEqual(['1', 'elsewhere']), 20_000);
    await rest(300);
    await worker.stop();
    expect(older.worked).toHaveLength(2);
    expect(older.told).toEqual([]);
    expect((await store.list(asideList, { max: 5 })).entries).toEqual([]);
    expect(older.lines).toEqual([expect.stringContaining('newer release')]);
    const both = [older.start({ idleMs: 30 }), newer.start()];
    await vi.waitFor(() => expect([...older.worked, ...newer.worked]).toContain('3'), 60_000);
    await Promise.all(both.map((one) => one.stop()));
    expect(newer.worked[0]).toBe('2');
    expect([...older.worked, ...newer.worked].toSorted()).toEqual(['1', '2', '3', 'elsewhere']);
  });

  it('leave work that needs a newer record to the newer release, and hold its lane only until then', async () => {
    const store = open();
    const [older, newer] = [release(store, old), release(marking(store), changed)];
    await newer.records.create('2', { money: { minor: 5 } }, { ttlMs: 600_000 });
    await store.create('about:2', '', { delayMs: 0, lane });
    const worker = older.start();
    await rest(300);
    await worker.stop();
    expect(older.worked).toEqual([]);
    expect((await store.read('about:2'))?.value).toBe('');
    const both = [older.start({ idleMs: 30 }), newer.start()];
    await vi.waitFor(() => expect(newer.worked).toEqual(['about:2']), 20_000);
    await Promise.all(both.map((one) => one.stop()));
    expect(older.worked).toEqual([]);
    expect((await store.list(asideList, { max: 5 })).entries).toEqual([]);
  });

  it('change nothing in a newer record through the older release, which throws StoreUnavailable', async () => {
    const store = open();
    const [older, newer] = [release(store, old), release(marking(store), changed)];
    await newer.records.create('2', { money: { minor: 5 } }, { delayMs: 0, lane });
    const before = await store.read('job:2');
    await expect(older.records.read('2')).rejects.toThrow(StoreUnavailable);
    const change = older.records.change('2', () => ({
      kind: 'write',
      value: { amount: 1 },
      result: 'changed',
    }));
    await expect(change).rejects.toThrow(StoreUnavailable);
    expect(await older.records.all('jobs')).toEqual([]);
    expect(await store.read('job:2')).toEqual(before);
    expect(await newer.records.all('jobs')).toEqual([{ money: { minor: 5 } }]);
  });
});
