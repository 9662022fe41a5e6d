import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import type { PageAnswer } from '../../../src/domain/service-page.ts';
import { createListExporter } from '../../../src/operations/service/export-list.ts';
import { createServiceList } from '../../../src/operations/service/service-list.ts';
import type { Store } from '../../../src/store/store.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';
import { onBothStores } from '../two-stores.ts';

type Item = { id: string };

const columns = [{ head: 'id', cell: ({ id }: Item) => id }];
const owner = 'U0AGENT';

/** A service of `pages` full pages; what `instead` has for a page comes in its place. */
function open(
  store: Store,
  pages: number,
  instead: Record<number, PageAnswer<Item> | Error | Promise<void>> = {},
) {
  let calls = 0;
  const list = createServiceList<Item>({
    store,
    sealer,
    name: 'things',
    item: z.object({ id: z.string() }),
    async readPage(cursor) {
      calls += 1;
      const number = Number(cursor ?? 0);
      const other = instead[number];
      if (other instanceof Error) throw other;
      if (other instanceof Promise) await other;
      else if (other) return other;
      const items = Array.from({ length: 50 }, (_, index) => ({ id: `item-${number * 50 + index}` }));
      return { kind: 'page', items, ...(number + 1 < pages ? { cursor: String(number + 1) } : {}) };
    },
    matches: ({ id }, words) => words.every((word) => id.includes(word)),
    now: () => 1,
  });
  const exportList = createListExporter<Item>({ store, name: 'things', list, now: () => 1 });
  const placed: string[] = [];
  const ask = async (of: { list: string }, filter = '', by = owner) =>
    exportList({
      owner: by,
      list: of.list,
      filter,
      columns,
      progress: () => undefined,
      place: async ({ text }) => placed.push(text),
    });
  return { list, ask, placed, instead, calls: () => calls };
}

const clock = () => ({ nowMs: 1_000 });

describe('a list as CSV', () => {
  it('has every row once, in order, and asks for no page that was read', async () => {
    const { list, ask, placed, calls } = open(memoryStore(clock()), 4);
    const of = await list.begin(owner);
    await list.show({ ...of, filter: '', number: 1, mostCalls: 1 });
    expect(await ask(of)).toMatchObject({ kind: 'placed', rows: 200, reading: { pages: 4, calls: 2 } });
    const all = Array.from({ length: 200 }, (_, index) => `item-${index}\r\n`).join('');
    expect(placed).toEqual([`\uFEFFid\r\n${all}`]);
    expect(calls()).toBe(4);
    await ask(of, '19');
    expect(placed[1]?.split('\r\n').slice(1, -1)).toEqual([
      'item-19',
      'item-119',
      ...Array.from({ length: 10 }, (_, index) => `item-${190 + index}`),
    ]);
    expect(calls()).toBe(4);
  });

  it('is no file when nothing matches, when the list is forgotten, or another person’s', async () => {
    const time = clock();
    const { list, ask, placed } = open(memoryStore(time), 2);
    const of = await list.begin(owner);
    expect(await ask(of, 'nothing')).toMatchObject({ kind: 'nothing', reading: { items: 100 } });
    expect(await ask(of, '', 'U0OTHER')).toEqual({ kind: 'gone' });
    time.nowMs += 30 * 60_000 + 1;
    expect(await ask(of)).toEqual({ kind: 'gone' });
    expect(placed).toEqual([]);
  });

  it('is never half a list: a stop makes no file, and the next attempt goes on from there', async () => {
    const failure = new ServiceFailure('rate_limited', 'too many', { retryAfterMs: 1_000 });
    const { list, ask, placed, instead, calls } = open(memoryStore(clock()), 5, { 3: failure });
    const of = await list.begin(owner);
    expect(await ask(of)).toMatchObject({ kind: 'stopped', stop: { kind: 'failure', failure }, rows: 150 });
    expect(placed).toEqual([]);
    delete instead[3];
    expect(await ask(of)).toMatchObject({ kind: 'placed', rows: 250, reading: { calls: 2 } });
    expect(calls()).toBe(6);
  });

  it('stops where the service refuses its cursor', async () => {
    const { list, ask } = open(memoryStore(clock()), 5, { 2: { kind: 'cursor_refused' } });
    const of = await list.begin(owner);
    expect(await ask(of)).toMatchObject({ kind: 'stopped', stop: { kind: 'cursor_refused' } });
  });

  it('is freed for the next attempt when placing it breaks, and after a crash in two minutes', async () => {
    const time = clock();
    const store = memoryStore(time);
    const { list, ask, placed } = open(store, 2);
    const of = await list.begin(owner);
    const exportList = createListExporter<Item>({ store, name: 'things', list, now: () => 1 });
    const request = { ...of, filter: '', columns, progress: () => undefined };
    await expect(
      exportList({ ...request, place: () => Promise.reject(new TypeError('bug')) }),
    ).rejects.toThrow('bug');
    expect(await ask(of)).toMatchObject({ kind: 'placed' });
    // It never comes back, as if its process had been killed.
    const begun = Promise.withResolvers<void>();
    void exportList({ ...request, place: () => (begun.resolve(), new Promise(() => undefined)) });
    await begun.promise;
    expect(await ask(of)).toEqual({ kind: 'running' });
    time.nowMs += 120_001;
    expect(await ask(of)).toMatchObject({ kind: 'placed' });
    expect(placed.length).toBe(2);
  });
});

onBothStores('a list as CSV', (openStores) => {
  it('is made once for two presses on two replicas, and side by side for two people', async () => {
    const { one, two, close } = await openStores();
    const gate = Promise.withResolvers<void>();
    const first = open(one, 9, { 8: gate.promise });
    const second = open(two, 9, { 8: gate.promise });
    const of = await first.list.begin(owner);
    const theirs = await second.list.begin('U0OTHER');
    const asked = [first.ask(of), second.ask(of), second.ask(theirs, '', 'U0OTHER')];
    expect(await Promise.race(asked)).toEqual({ kind: 'running' });
    gate.resolve();
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['placed', 'placed', 'running']);
    expect([...first.placed, ...second.placed].length).toBe(2);
    expect(await first.ask(of)).toMatchObject({ kind: 'placed', reading: { calls: 0 } });
    await close();
  });
});
