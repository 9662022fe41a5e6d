import { describe, expect, it } from 'vitest';
import { createPagedLog, itemsPerPage, type PagedLog } from '../../../src/operations/work/paged-log.ts';
import type { Store } from '../../../src/store/store.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';
import { onBothStores } from '../two-stores.ts';

type Item = { id: string; amount: number };

function openLog(store: Store): PagedLog<Item, number> {
  return createPagedLog<Item, number>({
    store,
    sealer,
    prefix: 'test-log:',
    ttlMs: 60_000,
    idOf: ({ id }) => id,
    empty: 0,
    summarise: (sum, { amount }) => sum + amount,
  });
}

function item(number: number): Item {
  return { id: `item-${number}`, amount: number };
}

onBothStores('a log in pages', (open) => {
  it('keeps every item in its order, and what they come to', async () => {
    const { one, close } = await open();
    const log = openLog(one);
    expect(await log.head('a')).toBeUndefined();
    const count = 2 * itemsPerPage + 3;
    for (let number = 1; number <= count; number += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await log.add('a', item(number));
    }
    expect(await log.head('a')).toEqual({ summary: (count * (count + 1)) / 2, count });
    const pages = await Promise.all([0, 1, 2, 3].map((page) => log.page('a', page)));
    expect(pages.map(({ length }) => length)).toEqual([itemsPerPage, itemsPerPage, 3, 0]);
    expect(pages.flat()).toEqual(Array.from({ length: count }, (_, index) => item(index + 1)));
    await close();
  });

  it('counts an item that is added again once, also on the other side of a page', async () => {
    const { one, close } = await open();
    const log = openLog(one);
    for (let number = 1; number <= itemsPerPage + 1; number += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await log.add('a', item(number));
    }
    await log.add('a', item(itemsPerPage));
    await log.add('a', item(itemsPerPage + 1));
    expect(await log.head('a')).toMatchObject({ count: itemsPerPage + 1 });
    expect((await log.page('a', 1)).length).toBe(1);
    await close();
  });

  it('loses nothing that two replicas add at once', async () => {
    const { one, two, close } = await open();
    const logs = [openLog(one), openLog(two)] as const;
    const numbers = Array.from({ length: 3 * itemsPerPage }, (_, index) => index + 1);
    await Promise.all(numbers.map((number) => logs[number % 2 === 0 ? 0 : 1].add('a', item(number))));
    const pages = await Promise.all([0, 1, 2].map((page) => logs[0].page('a', page)));
    const ids = pages.flat().map(({ id }) => id);
    expect(ids.length).toBe(numbers.length);
    expect(new Set(ids).size).toBe(numbers.length);
    await close();
  });
});

describe('what a log in pages stores', () => {
  it('is sealed', async () => {
    const store = memoryStore({ nowMs: 0 });
    const sealed: string[] = [];
    const spy = { ...sealer, seal: (context: string, plain: string) => `${context}|${sealed.push(plain)}` };
    const log = createPagedLog<Item, number>({
      store,
      sealer: { ...spy, open: (_, text) => sealed[Number(text.split('|').at(-1)) - 1] ?? '' },
      prefix: 'test-log:',
      ttlMs: 60_000,
      idOf: ({ id }) => id,
      empty: 0,
      summarise: (sum) => sum,
    });
    for (let number = 1; number <= itemsPerPage + 1; number += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await log.add('a', item(number));
    }
    const values = await Promise.all(['a', 'a#0'].map((name) => store.read(`test-log:${name}`)));
    expect(values.map((entry) => entry?.value.includes('item-'))).toEqual([false, false]);
  });
});
