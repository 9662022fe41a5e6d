import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mostDue, type Entry, type ListOptions, type Store } from '../../src/store/store.ts';

export type OpenStore = {
  store: Store;
  /** Resolves once the store's own clock has advanced by at least this much. */
  pass(ms: number): Promise<void>;
  /** Sets that clock forward or back by this much. */
  shift(ms: number): void;
  close(): Promise<void>;
};

const shortMs = 30;
/** Short, but long enough for a write on a busy machine. */
const enoughMs = 300;
const longMs = 60_000;

/**
 * The contract of `Store`, for every adapter. On Redis short times pass for real; what must not happen yet is a minute
 * away.
 */
export function storeContract(name: string, open: () => Promise<OpenStore>): void {
  describe(`store contract on ${name}`, () => {
    let opened: OpenStore;
    let store: Store;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    async function takeOne(leaseMs = longMs): Promise<Entry> {
      const [entry] = await store.take(leaseMs);
      if (entry === undefined) throw new Error('nothing was due');
      return entry;
    }
    async function work(key: string, lane?: string): Promise<void> {
      expect(await store.create(key, `value of ${key}`, { delayMs: 0, ...(lane && { lane }) })).toBe(true);
      // Advance the clock, so that the next record is due later and "oldest first" is defined.
      await opened.pass(1);
    }
    async function keysIn(name: string, options: Partial<ListOptions> = {}): Promise<string[]> {
      const { entries } = await store.list(name, { max: 100, ...options });
      return entries.map(({ key }) => key);
    }
    async function pages(name: string, options: ListOptions): Promise<string[][]> {
      const { entries, next } = await store.list(name, options);
      const keys = entries.map(({ key }) => key);
      return next === undefined ? [keys] : [keys, ...(await pages(name, { ...options, after: next }))];
    }
    async function placesIn(name: string, from: number, newestFirst: boolean): Promise<number[]> {
      return (await keysIn(name, { from, newestFirst })).map((key) => Number(key[0]));
    }
    async function keysTaken(max: number, lanes?: string): Promise<string[]> {
      return (await store.take(longMs, max, lanes)).map((entry) => entry.key);
    }

    describe('create', () => {
      it('stores a key once and changes nothing the second time', async () => {
        expect(await store.create('a', 'first')).toBe(true);
        expect(await store.create('a', 'second', { delayMs: 0 })).toBe(false);
        expect(await store.read('a')).toMatchObject({ key: 'a', value: 'first', lane: 'a', attempts: 0 });
        expect(await store.take(longMs)).toEqual([]);
      });
      it('returns true to exactly one of many simultaneous callers', async () => {
        const answers = await Promise.all(Array.from({ length: 50 }, () => store.create('a', '')));
        expect(answers.filter(Boolean)).toHaveLength(1);
      });
      it('forgets memory at its expiry, and then creates the key again', async () => {
        await store.create('a', 'old', { ttlMs: shortMs });
        await opened.pass(shortMs);
        expect(await store.read('a')).toBeUndefined();
        expect(await store.create('a', 'new', { ttlMs: longMs })).toBe(true);
        expect(await store.read('a')).toMatchObject({ value: 'new' });
      });
      it('keeps memory without an expiry, and memory before its expiry', async () => {
        await store.create('for ever', '');
        await store.create('long', '', { ttlMs: longMs });
        await opened.pass(shortMs);
        expect(await store.create('for ever', '')).toBe(false);
        expect(await store.create('long', '')).toBe(false);
      });
      it('refuses an impossible duration, and stores nothing', async () => {
        for (const delayMs of [-1, Number.NaN, Infinity]) {
          await expect(store.create('a', '', { delayMs })).rejects.toThrow(RangeError);
        }
        await expect(store.create('a', '', { ttlMs: -1 })).rejects.toThrow(RangeError);
        expect(await store.read('a')).toBeUndefined();
      });
    });

    describe('keys and values', () => {
      const odd = [
        '',
        ' ',
        'a b\tc\n',
        '{x}:{payops}',
        'o\'brien"--',
        'naïve 支付 🧾',
        '%',
        'NULL',
        '__proto__',
      ];
      it.each(odd)('keeps the key, lane and value %j unchanged', async (text) => {
        await store.create(text, text, { delayMs: 0, lane: `lane ${text}` });
        expect(await takeOne()).toMatchObject({ key: text, value: text, lane: `lane ${text}` });
        expect(await store.read(text)).toMatchObject({ key: text, value: text, attempts: 1 });
      });
      it('distinguishes keys that differ in one character', async () => {
        for (const key of ['a', 'A', 'a ', 'á', 'a\u0301']) expect(await store.create(key, '')).toBe(true);
      });
      it('keeps a value of a megabyte', async () => {
        const value = '支付🧾'.repeat(100_000);
        await store.create('large', value);
        expect((await store.read('large'))?.value === value).toBe(true);
      });
    });

    describe('list', () => {
      it('returns the records by place, then key, from either end', async () => {
        await store.create('b', 'value of b', { index: { open: 2, all: 1 } });
        await store.create('a', 'value of a', { delayMs: 0, lane: 'x', index: { open: 2 } });
        await store.create('c', '', { index: { open: -1 } });
        await store.create('d', '');
        expect(await keysIn('open')).toEqual(['c', 'a', 'b']);
        expect(await keysIn('open', { newestFirst: true })).toEqual(['b', 'a', 'c']);
        expect(await keysIn('all')).toEqual(['b']);
        expect(await keysIn('of nobody')).toEqual([]);
        const { entries } = await store.list('open', { max: 2, newestFirst: true });
        expect(entries).toEqual([await readThere('b'), await readThere('a')]);
      });
      it('changes a record’s lists with the write, or leaves them', async () => {
        await store.create('a', '', { index: { open: 1, all: 1 } });
        const moved = await store.write(await readThere('a'), '', { index: { closed: 5, all: 2 } });
        expect([await keysIn('open'), await keysIn('closed'), await keysIn('all')]).toEqual([
          [],
          ['a'],
          ['a'],
        ]);
        const stays = moved && (await store.write(moved, 'again'));
        expect(await keysIn('closed')).toEqual(['a']);
        if (stays) await store.write(stays, '', { index: {} });
        expect([await keysIn('closed'), await keysIn('all')]).toEqual([[], []]);
      });
      it('changes no lists with a refused write or create', async () => {
        await store.create('a', '', { index: { open: 1 } });
        const old = await readThere('a');
        await store.write(old, 'newer');
        expect(await store.write(old, '', { index: { closed: 1 } })).toBeUndefined();
        expect(await store.create('a', '', { index: { closed: 1 } })).toBe(false);
        expect([await keysIn('open'), await keysIn('closed')]).toEqual([['a'], []]);
      });
      it('leaves the lists of work unchanged when it is taken and held', async () => {
        await store.create('a', '', { delayMs: 0, index: { open: 1 } });
        await store.write(await takeOne(), 'held', { holdMs: longMs, index: { closed: 1 } });
        expect([await keysIn('open'), await keysIn('closed')]).toEqual([['a'], []]);
      });
      it('forgets a record at its expiry, and its lists if the key is created again', async () => {
        await store.create('a', '', { ttlMs: shortMs, index: { open: 1 } });
        await store.create('b', '', { ttlMs: longMs, index: { open: 2 } });
        await opened.pass(shortMs);
        expect(await keysIn('open')).toEqual(['b']);
        await store.create('a', '', { index: { closed: 1 } });
        expect([await keysIn('open'), await keysIn('closed')]).toEqual([['b'], ['a']]);
      });
      it('returns a long list page by page, each record once, also if many have the same place', async () => {
        const keys = Array.from({ length: 25 }, (_, at) => `é${String(at).padStart(2, '0')}`);
        await Promise.all(keys.map((key, at) => store.create(key, '', { index: { open: at < 5 ? at : 5 } })));
        const upwards = await pages('open', { max: 10 });
        expect(upwards.map((page) => page.length)).toEqual([10, 10, 5]);
        expect(upwards.flat()).toEqual(keys);
        expect((await pages('open', { max: 5, newestFirst: true })).flat()).toEqual(keys.toReversed());
        expect(await pages('open', { max: 25 })).toHaveLength(1);
      });
      it.each([true, false])(
        'continues after a record that left the list meanwhile, newest first: %s',
        async (newestFirst) => {
          for (const key of ['a', 'b', 'c', 'd', 'e']) await store.create(key, '', { index: { open: 1 } });
          const { entries, next = '' } = await store.list('open', { max: 3, newestFirst });
          for (const key of ['c', newestFirst ? 'd' : 'b'])
            await store.write(await readThere(key), '', { index: {} });
          expect(entries).toHaveLength(3);
          expect(await keysIn('open', { after: next, newestFirst })).toEqual(
            newestFirst ? ['b', 'a'] : ['d', 'e'],
          );
        },
      );
      it('starts at a place, from either end', async () => {
        for (const place of [1, 2, 2, 3])
          await store.create(`${place} ${Math.random()}`, '', { index: { open: place } });
        expect(await placesIn('open', 2, false)).toEqual([2, 2, 3]);
        expect(await placesIn('open', 2, true)).toEqual([2, 2, 1]);
        expect([await placesIn('open', 4, false), await placesIn('open', 0, true)]).toEqual([[], []]);
      });
      it('keeps lists with unusual names apart', async () => {
        const names = ['', ' ', '{x}:{payops}', '__proto__', 'naïve 支付', '"[1,"'];
        for (const name of names)
          await store.create(`in ${name}`, '', { index: Object.fromEntries([[name, 1]]) });
        for (const name of names) expect(await keysIn(name)).toEqual([`in ${name}`]);
      });
      it('refuses an impossible place, page size or start', async () => {
        await expect(store.create('a', '', { index: { open: 1.5 } })).rejects.toThrow(RangeError);
        for (const max of [0, 1001, 1.5])
          await expect(store.list('open', { max })).rejects.toThrow(RangeError);
        for (const after of ['', 'x', 'x:y', ':a'])
          await expect(store.list('open', { max: 1, after })).rejects.toThrow(RangeError);
      });
    });

    describe('write', () => {
      it('accepts one write of a version: the second writer loses', async () => {
        await store.create('a', 'one');
        const entry = await readThere('a');
        expect(await store.write(entry, 'two')).toBeDefined();
        expect(await store.write(entry, 'three')).toBeUndefined();
        const after = await readThere('a');
        expect(after.value).toBe('two');
        expect(after.version).toBeGreaterThan(entry.version);
      });
      it('lets exactly one of many simultaneous writers win', async () => {
        await store.create('a', '');
        const entry = await readThere('a');
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, n) => store.write(entry, String(n))),
        );
        expect(answers.filter(Boolean)).toHaveLength(1);
      });
      it('is refused for an expired record, even if its key was created again since', async () => {
        const old = await readShortLived();
        await opened.pass(shortMs);
        expect(await store.write(old, 'late')).toBeUndefined();
        await store.create(old.key, 'new');
        expect(await store.write(old, 'late')).toBeUndefined();
        expect(await store.read(old.key)).toMatchObject({ value: 'new' });
      });
      it('returns the new entry, which can be written again', async () => {
        await work('a');
        const written = await store.write(await takeOne(), 'one', { delayMs: 0 });
        expect(written).toEqual(await readThere('a'));
        expect(written && (await store.write(written, 'two'))).toMatchObject({ key: 'a', value: 'two' });
      });
      it('finishes work: it is not taken again, and its key exists until its expiry', async () => {
        await work('a');
        expect(await store.write(await takeOne(), 'done', { ttlMs: shortMs })).toBeDefined();
        expect(await store.take(longMs)).toEqual([]);
        expect(await store.create('b', '', { ttlMs: longMs })).toBe(true);
        await opened.pass(shortMs);
        expect(await store.read('a')).toBeUndefined();
      });
      it('makes memory work, and then drops its expiry', async () => {
        let entry = await readShortLived();
        while (!(await store.write(entry, 'again', { delayMs: 0 }))) entry = await readShortLived();
        await opened.pass(shortMs);
        expect(await takeOne()).toMatchObject({ key: entry.key, value: 'again', attempts: 1 });
      });
      it('delays work, and never forgets it meanwhile', async () => {
        await work('a');
        await work('b');
        await store.write(await takeOne(), 'later', { delayMs: shortMs, ttlMs: 1 });
        await store.write(await takeOne(), 'much later', { delayMs: longMs });
        await opened.pass(shortMs);
        expect(await takeOne()).toMatchObject({ key: 'a', value: 'later', attempts: 2 });
        expect(await store.take(longMs)).toEqual([]);
        expect(await store.read('b')).toMatchObject({ value: 'much later' });
      });
    });

    async function readThere(key: string): Promise<Entry> {
      const entry = await store.read(key);
      if (entry === undefined) throw new Error(`${key} is not there`);
      return entry;
    }
    /** Reads a record that expires soon. On a busy machine it may expire before it is read. */
    async function readShortLived(): Promise<Entry> {
      for (let n = 0; n < 50; n += 1) {
        await store.create(`short ${n}`, 'old', { ttlMs: shortMs });
        const entry = await store.read(`short ${n}`);
        if (entry !== undefined) return entry;
      }
      throw new Error('50 records were gone at once');
    }

    describe('take', () => {
      it('returns nothing if nothing is due', async () => {
        await store.create('memory', '');
        await store.create('later', '', { delayMs: longMs });
        expect(await store.take(longMs)).toEqual([]);
      });
      it('returns work once its delay is over', async () => {
        await store.create('a', 'x', { delayMs: shortMs });
        await opened.pass(shortMs);
        expect(await takeOne()).toMatchObject({ key: 'a', value: 'x', lane: 'a', attempts: 1 });
      });
      it('returns the lane that has waited longest, its oldest work first', async () => {
        await work('1', 'x');
        await work('2', 'y');
        await work('3', 'x');
        await work('4', 'y');
        expect(await keysTaken(10)).toEqual(['1', '3']);
        expect(await keysTaken(10)).toEqual(['2', '4']);
        expect(await keysTaken(10)).toEqual([]);
      });
      it('returns at most max entries, one by default', async () => {
        for (const key of ['1', '2', '3']) await work(key, 'x');
        const batch = await store.take(longMs, 2);
        expect(batch.map((entry) => entry.key)).toEqual(['1', '2']);
        for (const entry of batch) await store.write(entry, 'done');
        expect(await store.take(longMs)).toHaveLength(1);
      });
      it('returns one entry of a lane without the prefix, for any max', async () => {
        for (const key of ['a1', 'a2', 'b3', 'b4']) await work(key, key.slice(0, 1));
        expect(await keysTaken(2, 'b')).toEqual(['a1']);
        expect(await keysTaken(2, 'b')).toEqual(['b3', 'b4']);
      });
      it('returns no work that is not due yet', async () => {
        await work('due', 'x');
        await store.create('not yet', '', { delayMs: longMs, lane: 'x' });
        expect(await keysTaken(10)).toEqual(['due']);
      });
      it('gives a record without a lane its own lane', async () => {
        await work('1');
        await work('2');
        expect(await keysTaken(10)).toEqual(['1']);
        expect(await keysTaken(10)).toEqual(['2']);
      });
      it('never gives one lane to two takers at once', async () => {
        for (let n = 0; n < 20; n += 1) await work(String(n), `lane ${n % 5}`);
        const batches = await Promise.all(Array.from({ length: 10 }, () => store.take(longMs, 2)));
        const lanes = batches.flatMap((batch) => batch.slice(0, 1)).map((entry) => entry.lane);
        expect(lanes).toHaveLength(5);
        expect(new Set(lanes).size).toBe(5);
      });
      it('refuses a lease or batch of 0', async () => {
        await expect(store.take(0)).rejects.toThrow(RangeError);
        await expect(store.take(longMs, 0)).rejects.toThrow(RangeError);
        await expect(store.take(longMs, 1.5)).rejects.toThrow(RangeError);
      });
    });

    describe('a lane', () => {
      it('stays leased until the last entry of the batch is written', async () => {
        for (const key of ['1', '2', '3']) await work(key, 'x');
        const [one, two] = await store.take(longMs, 2);
        if (one === undefined || two === undefined) throw new Error('two were due');
        await store.write(two, 'done');
        expect(await keysTaken(1)).toEqual([]);
        await store.write(one, 'again', { delayMs: 0 });
        expect(await keysTaken(3)).toEqual(['3', '1']);
      });
      it('makes work that is created during a lease wait its turn', async () => {
        await work('1', 'x');
        const taken = await takeOne();
        await work('2', 'x');
        expect(await store.take(longMs)).toEqual([]);
        await store.write(taken, 'done');
        expect(await keysTaken(1)).toEqual(['2']);
      });
      it('is not freed by a write to an entry that is not leased', async () => {
        await work('1', 'x');
        await work('2', 'x');
        await takeOne();
        expect(await store.write(await readThere('2'), 'edited', { delayMs: 0 })).toBeDefined();
        expect(await store.take(longMs)).toEqual([]);
      });
      it('is blocked by a pause, for old and new work, and is free after it', async () => {
        await work('1', 'long');
        await store.write(await takeOne(), 'again', { delayMs: 0, pauseMs: longMs });
        await work('2', 'long');
        await work('3', 'short');
        await store.write(await takeOne(), 'again', { delayMs: 0, pauseMs: shortMs });
        await opened.pass(shortMs);
        expect(await keysTaken(10)).toEqual(['3']);
        expect(await keysTaken(10)).toEqual([]);
      });
      it('keeps its pause when its last work is finished; a shorter pause doesn’t shorten a longer one', async () => {
        await work('1', 'x');
        await store.write(await takeOne(), 'done', { pauseMs: longMs });
        await store.write(await readThere('1'), 'done', { pauseMs: 1 });
        await work('2', 'x');
        expect(await store.take(longMs)).toEqual([]);
      });
      it('is free again when a dead worker’s lease ends, with that work first and its attempt counted', async () => {
        await work('1', 'x');
        await work('2', 'x');
        const [dead] = await store.take(shortMs);
        expect(dead).toMatchObject({ key: '1', attempts: 1 });
        await opened.pass(shortMs);
        const batch = await store.take(longMs, 10);
        expect(batch.map(({ key, attempts }) => [key, attempts])).toEqual([
          ['1', 2],
          ['2', 1],
        ]);
      });
      it('loses a record that moves to another lane', async () => {
        await work('1', 'x');
        await work('2', 'x');
        const moved = await store.write(await takeOne(), 'moved', { delayMs: 0, pauseMs: longMs, lane: 'y' });
        expect(moved).toMatchObject({ key: '1', lane: 'y' });
        expect(await readThere('1')).toEqual(moved);
        await opened.pass(1);
        await work('3', 'y');
        // Pause and lease belong to the lane that the record left.
        expect(await keysTaken(10)).toEqual(['1', '3']);
        expect(await keysTaken(10)).toEqual([]);
      });
      it('stays leased or paused when a record moves into it', async () => {
        await work('1', 'y');
        await takeOne();
        await work('2', 'x');
        expect(await store.write(await readThere('2'), 'moved', { delayMs: 0, lane: 'y' })).toBeDefined();
        await opened.pass(1);
        expect(await store.take(longMs)).toEqual([]);
        await store.write(await readThere('1'), 'done');
        expect(await keysTaken(10)).toEqual(['2']);
      });
      it.each([150_000, 7_200_000, 7 * 86_400_000])(
        'keeps the length of its pause, its lease and its delay when the clock is put back by %d ms',
        async (byMs) => {
          await work('1', 'paused');
          await store.write(await takeOne(), 'again', { delayMs: 0, pauseMs: longMs });
          await work('2', 'leased');
          await takeOne();
          await store.create('3', '', { delayMs: longMs });
          opened.shift(-byMs);
          await work('4', 'free');
          expect(await keysTaken(1)).toEqual(['4']);
          await work('5', 'paused');
          expect(await store.take(longMs)).toEqual([]);
          expect(await store.backlog()).toMatchObject({ due: { free: 0, leased: 2, paused: 2 } });
          opened.shift(longMs);
          const taken = [await takeOne(), await takeOne(), await takeOne(), await takeOne()];
          expect(taken.map(({ key }) => key).toSorted()).toEqual(['1', '2', '3', '4']);
        },
      );
      it('keeps the length of a delay even if the clock is put back repeatedly', async () => {
        await store.create('1', '', { delayMs: longMs });
        for (const byMs of [-60_000, -3_600_000, -1_000]) {
          opened.shift(byMs);
          expect(await store.take(longMs)).toEqual([]);
        }
        opened.shift(longMs);
        expect(await takeOne()).toMatchObject({ key: '1' });
      });
    });

    describe('a lease', () => {
      it('is lost once it has ended and another worker has taken the entry', async () => {
        await work('1', 'x');
        const late = await takeOne(shortMs);
        await opened.pass(shortMs);
        const mine = await takeOne();
        expect(await store.write(late, 'late', { pauseMs: longMs })).toBeUndefined();
        expect(await store.write(mine, 'mine', { delayMs: 0 })).toBeDefined();
        expect(await takeOne()).toMatchObject({ value: 'mine', attempts: 3 });
      });
      it('is extended by its holder, whose change is stored', async () => {
        await work('1', 'x');
        await work('2', 'x');
        const held = await store.write(await takeOne(enoughMs), 'held', { holdMs: longMs });
        expect(held).toMatchObject({ key: '1', value: 'held', attempts: 1 });
        await opened.pass(enoughMs);
        expect(await store.take(longMs)).toEqual([]);
        expect(await readThere('1')).toEqual(held);
        expect(held && (await store.write(held, 'done'))).toBeDefined();
        expect(await takeOne()).toMatchObject({ key: '2' });
      });
      it('frees an extended entry, which is still due, when its holder dies', async () => {
        await work('1', 'x');
        await store.write(await takeOne(longMs), 'held', { holdMs: shortMs });
        await opened.pass(shortMs);
        expect(await takeOne()).toMatchObject({ key: '1', value: 'held', attempts: 2 });
      });
      it('can’t be extended once it has ended, nor for an entry that was never taken', async () => {
        await work('1', 'x');
        const late = await takeOne(shortMs);
        await opened.pass(shortMs);
        expect(await store.write(late, 'late', { holdMs: longMs })).toBeUndefined();
        await work('2', 'y');
        expect(await store.write(await readThere('2'), 'mine?', { holdMs: longMs })).toBeUndefined();
        expect(await readThere('1')).toMatchObject({ value: 'value of 1' });
      });
      it('stays with the new holder if a late worker writes another entry of the lane', async () => {
        await work('1', 'x');
        await work('2', 'x');
        const [, second] = await store.take(shortMs, 2);
        if (second === undefined) throw new Error('two were due');
        await opened.pass(shortMs);
        expect(await takeOne()).toMatchObject({ key: '1' });
        expect(await store.write(second, 'late but first', { delayMs: 0 })).toBeDefined();
        expect(await store.take(longMs)).toEqual([]);
      });
    });

    describe('replace', () => {
      it('changes only the value: due time, expiry and lane stay', async () => {
        await work('work', 'x');
        await store.create('memory', 'old', { ttlMs: enoughMs });
        for (const key of ['work', 'memory']) {
          expect(await store.replace(await readThere(key), 'new')).toBe(true);
        }
        expect(await store.read('memory')).toMatchObject({ value: 'new' });
        expect(await takeOne()).toMatchObject({ key: 'work', value: 'new', lane: 'x', attempts: 1 });
        await opened.pass(enoughMs);
        expect(await store.read('memory')).toBeUndefined();
      });
      it('puts the record into exactly the named lists, for as long as it exists', async () => {
        await store.create('work', '', { delayMs: 0, index: { old: 1, both: 1 } });
        await store.create('memory', '', { ttlMs: enoughMs, index: { old: 2 } });
        for (const [key, place] of [
          ['work', 1],
          ['memory', 2],
        ] as const) {
          expect(await store.replace(await readThere(key), '', { both: place, new: place })).toBe(true);
        }
        for (const [name, keys] of [
          ['old', []],
          ['both', ['work', 'memory']],
          ['new', ['work', 'memory']],
        ] as const) {
          expect((await store.list(name, { max: 9 })).entries.map(({ key }) => key)).toEqual(keys);
        }
        expect(await takeOne(enoughMs)).toMatchObject({ key: 'work', attempts: 1 });
        const isOut = await store.replace(await readThere('work'), '', { stolen: 1 });
        expect([isOut, (await store.list('stolen', { max: 9 })).entries]).toEqual([false, []]);
        await opened.pass(enoughMs);
        expect((await store.list('new', { max: 9 })).entries.map(({ key }) => key)).toEqual(['work']);
        // Expired records leave their lists with later changes of records in lists.
        await store.create('memory', 'another', { index: { both: 3 } });
        expect((await store.list('new', { max: 9 })).entries.map(({ key }) => key)).toEqual(['work']);
      });
      it('is refused for a record that was changed meanwhile, and makes other pending writes lose', async () => {
        await store.create('a', 'one');
        const entry = await readThere('a');
        expect(await store.replace(entry, 'two')).toBe(true);
        expect(await store.replace(entry, 'three')).toBe(false);
        expect(await store.write(entry, 'four')).toBeUndefined();
        expect(await readThere('a')).toMatchObject({ value: 'two' });
      });
      it('is refused for leased work until its lease ends', async () => {
        await work('a');
        const taken = await takeOne(enoughMs);
        expect(await store.replace(await readThere('a'), 'new')).toBe(false);
        expect(await store.write(taken, 'held', { holdMs: enoughMs })).toBeDefined();
        expect(await store.replace(await readThere('a'), 'new')).toBe(false);
        await opened.pass(enoughMs);
        expect(await store.replace(await readThere('a'), 'new')).toBe(true);
      });
    });

    it('lists every key, page by page', async () => {
      const names = Array.from({ length: 1_200 }, (_, n) => `key ${n}`);
      await Promise.all(names.map((name) => store.create(name, '')));
      const found = new Set<string>();
      for (let next: string | undefined = ''; next !== undefined;) {
        const page: Awaited<ReturnType<Store['keysAfter']>> = await store.keysAfter(next);
        for (const key of page.keys) found.add(key);
        ({ next } = page);
      }
      expect([...found].toSorted()).toEqual(names.toSorted());
    });

    it('reports how long the oldest record has been due, and how many are due by their lane’s state', async () => {
      expect(await store.backlog()).toEqual({ oldestDueMs: 0, due: { free: 0, leased: 0, paused: 0 } });
      await work('leased', 'l');
      await work('behind it', 'l');
      expect(await takeOne()).toMatchObject({ key: 'leased' });
      await work('paused', 'p');
      await store.write(await takeOne(), 'again', { delayMs: 0, pauseMs: longMs });
      await work('free');
      await store.create('later', '', { delayMs: longMs });
      await store.create('memory', '');
      await opened.pass(enoughMs);
      const { oldestDueMs, due } = await store.backlog();
      expect(due).toEqual({ free: 1, leased: 2, paused: 1 });
      expect(oldestDueMs).toBeGreaterThanOrEqual(enoughMs);
      expect(oldestDueMs).toBeLessThan(longMs);
    });

    it('reports the oldest due record even if more are due than it counts', async () => {
      await work('oldest', 'z');
      await opened.pass(enoughMs);
      const newer = Array.from({ length: mostDue }, (_, at) =>
        store.create(`newer ${at}`, '', { delayMs: 0, lane: 'a' }),
      );
      await Promise.all(newer);
      await opened.pass(1);
      const { oldestDueMs, due } = await store.backlog();
      expect(due.free).toBeGreaterThanOrEqual(mostDue);
      expect(oldestDueMs).toBeGreaterThanOrEqual(enoughMs);
    });
    it('answers a ping', async () => {
      await expect(store.ping()).resolves.toBeUndefined();
    });
    it('throws StoreUnavailable after it was closed, also if it was closed twice', async () => {
      const under = store.create('a', '');
      await store.close();
      await store.close();
      expect(await under).toBe(true);
      await expect(store.create('b', '')).rejects.toMatchObject({ name: 'StoreUnavailable' });
      await expect(store.read('a')).rejects.toMatchObject({ name: 'StoreUnavailable' });
    });
  });
}
