import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import type { PageAnswer } from '../../../src/domain/service-page.ts';
import { createServiceList, type ServiceList } from '../../../src/features/lists/service-list.ts';
import type { Store } from '../../../src/store/store.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';
import { onBothStores } from '../two-stores.ts';

type Item = { id: string };

const owner = 'U0AGENT';

/** A service whose page after cursor `c<n>` is page n; what `answers` has for a page comes instead of it. */
function service(count: number, answers: Record<number, Partial<PageAnswer<Item>> | Error> = {}) {
  const asked: (string | undefined)[] = [];
  async function readPage(cursor?: string): Promise<PageAnswer<Item>> {
    asked.push(cursor);
    const number = cursor === undefined ? 0 : Number(cursor.slice(1));
    const instead = answers[number];
    if (instead instanceof Error) throw instead;
    const items = Array.from({ length: Math.min(50, count - number * 50) }, (_, index) => ({
      id: `item-${number * 50 + index}`,
    }));
    const next = (number + 1) * 50 < count ? { cursor: `c${number + 1}` } : {};
    return { kind: 'page', items, ...next, ...instead };
  }
  return { asked, answers, readPage };
}

function open(store: Store, { readPage }: Pick<ReturnType<typeof service>, 'readPage'>): ServiceList<Item> {
  return createServiceList<Item>({
    store,
    sealer,
    name: 'things',
    item: z.object({ id: z.string() }),
    readPage,
    matches: ({ id }, words) => words.every((word) => id.includes(word)),
    now: () => 7_000,
  });
}

const clock = () => ({ nowMs: 1_000 });

async function page(
  list: ServiceList<Item>,
  number: number,
  more: Partial<{ list: string; owner: string; filter: string; mostCalls: number }> = {},
) {
  const of = await list.latest(owner);
  return list.show({ owner, list: of?.list ?? '', filter: '', number, mostCalls: 1, ...more });
}

describe('a list of the service', () => {
  it('shows the service’s own pages, asks for each once, and passes back only cursors it was given', async () => {
    const till = service(120);
    const list = open(memoryStore(clock()), till);
    await list.begin(owner);
    expect(await page(list, 0)).toMatchObject({ number: 0, before: 0, hasNext: true });
    expect(await page(list, 1)).toMatchObject({ number: 1, before: 50, hasNext: true });
    const last = await page(list, 2);
    expect(last).toMatchObject({
      before: 100,
      hasNext: false,
      reading: { end: 'last_page', items: 120, calls: 1 },
    });
    expect(last.kind === 'page' && last.items.length).toBe(20);
    expect(await page(list, 0)).toMatchObject({ number: 0, reading: { calls: 0 } });
    expect(await page(list, 1)).toMatchObject({ number: 1, reading: { calls: 0 } });
    expect(till.asked).toEqual([undefined, 'c1', 'c2']);
  });

  it('stays on the last page when one beyond it is asked for', async () => {
    const till = service(60);
    const list = open(memoryStore(clock()), till);
    await list.begin(owner);
    expect(await page(list, 9, { mostCalls: 5 })).toMatchObject({ number: 1, hasNext: false });
    expect(till.asked.length).toBe(2);
  });

  it.each([
    ['the same cursor again', { 1: { cursor: 'c1' } }, 2],
    ['a cursor of an earlier page', { 2: { cursor: 'c1' } }, 3],
    ['a cycle of many pages', { 17: { cursor: 'c4' } }, 18],
  ])('ends at %s', async (_what, answers, calls) => {
    const till = service(1_000, answers);
    const list = open(memoryStore(clock()), till);
    await list.begin(owner);
    expect(await page(list, 0, { filter: 'item', mostCalls: 50 })).toMatchObject({
      reading: { end: 'repeated_cursor', pages: calls },
      hasNext: true,
    });
    expect(till.asked.length).toBe(calls);
  });

  it('goes on after an empty page that has a cursor', async () => {
    const till = service(120, { 1: { items: [] } });
    const list = open(memoryStore(clock()), till);
    await list.begin(owner);
    expect(await page(list, 0, { filter: 'item', mostCalls: 9 })).toMatchObject({
      found: 70,
      reading: { pages: 3, end: 'last_page' },
    });
  });

  it('wants every word of the filter', async () => {
    const list = open(memoryStore(clock()), service(30));
    await list.begin(owner);
    expect(await page(list, 0, { filter: ' 2  item ' })).toMatchObject({ found: 12 });
    expect(await page(list, 0, { filter: 'item nothing' })).toMatchObject({
      found: 0,
      items: [],
      hasNext: false,
    });
  });

  it('throws the failure of the first page, and lets a bug be a bug', async () => {
    const broken = open(memoryStore(clock()), service(10, { 0: new ServiceFailure('server', 'broken') }));
    await expect(broken.begin(owner)).rejects.toThrow(ServiceFailure);
    const till = service(100, { 1: new TypeError('bug') });
    const list = open(memoryStore(clock()), till);
    await list.begin(owner);
    await expect(page(list, 1)).rejects.toThrow(TypeError);
  });

  it('tells that the service refuses its own cursor', async () => {
    const list = open(memoryStore(clock()), service(100, { 1: { kind: 'cursor_refused' } }));
    await list.begin(owner);
    expect(await page(list, 1)).toMatchObject({ number: 0, stop: { kind: 'cursor_refused' } });
  });

  it('is forgotten after half an hour, and never begun again by itself', async () => {
    const time = clock();
    const till = service(100);
    const list = open(memoryStore(time), till);
    const { list: id } = await list.begin(owner);
    time.nowMs += 30 * 60_000 + 1;
    expect(await list.latest(owner)).toBeUndefined();
    expect(await page(list, 1, { list: id })).toEqual({ kind: 'gone' });
    expect(till.asked.length).toBe(1);
  });

  it('belongs to its asker alone', async () => {
    const list = open(memoryStore(clock()), service(100));
    const { list: id } = await list.begin(owner);
    expect(await page(list, 0, { list: id })).toMatchObject({ kind: 'page' });
    expect(await page(list, 0, { list: id, owner: 'U0OTHER' })).toEqual({ kind: 'gone' });
    expect(await list.latest('U0OTHER')).toBeUndefined();
    for (const forged of [`${id}#0`, '', '../x']) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await page(list, 0, { list: forged })).toEqual({ kind: 'gone' });
    }
  });

  it('is one for each of two people who list at once', async () => {
    const till = service(300);
    const list = open(memoryStore(clock()), till);
    const mine = await list.begin(owner);
    const theirs = await list.begin('U0OTHER');
    const next = async (of: typeof mine, number: number) =>
      await list.show({ ...of, filter: '', number, mostCalls: 1 });
    for (const number of [1, 2]) {
      // oxlint-disable-next-line no-await-in-loop
      const [one, two] = await Promise.all([next(mine, number), next(theirs, number)]);
      expect(one).toMatchObject({ number, before: number * 50, reading: { calls: 1 } });
      expect(two).toEqual(one);
    }
    expect(await next(mine, 0)).toMatchObject({ number: 0, reading: { calls: 0 } });
    expect(till.asked).toEqual([undefined, undefined, 'c1', 'c1', 'c2', 'c2']);
  });

  it('gives every item that matches once, page by page, and says why it ended', async () => {
    const till = service(170);
    const time = clock();
    const list = open(memoryStore(time), till);
    const of = await list.begin(owner);
    const read = async (filter: string, mostCalls: number) => {
      const sizes: number[] = [];
      const walking = list.matchingPages({ ...of, filter, mostCalls });
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const next = await walking.next();
        if (next.done) return { sizes, end: next.value };
        sizes.push(next.value.items.length);
      }
    };
    expect(await read('', 1)).toEqual({ sizes: [50, 50], end: { kind: 'enough_calls' } });
    expect(await read('', 99)).toEqual({ sizes: [50, 50, 50, 20], end: undefined });
    expect(await read('ITEM-16', 0)).toEqual({ sizes: [1, 0, 0, 10], end: undefined });
    expect(till.asked.length).toBe(4);
    time.nowMs += 30 * 60_000 + 1;
    expect(await read('', 99)).toEqual({ sizes: [], end: { kind: 'gone' } });
  });

  it('gives every item once, page by page, and says when it is forgotten meanwhile', async () => {
    const till = service(170);
    const time = clock();
    const list = open(memoryStore(time), till);
    const whole = { ...(await list.begin(owner)), filter: '', mostCalls: Infinity };
    const walk = list.matchingPages(whole);
    const sizes: number[] = [];
    let end: string | undefined;
    for (let pages = 0; pages < 4; pages += 1) {
      // oxlint-disable-next-line no-await-in-loop
      const next = await walk.next();
      if (next.done) throw new Error('It ended early.');
      sizes.push(next.value.items.length);
      ({ end } = next.value.reading);
    }
    expect(sizes).toEqual([50, 50, 50, 20]);
    expect(end).toBe('last_page');
    expect(await walk.next()).toEqual({ done: true, value: undefined });
    time.nowMs += 30 * 60_000 + 1;
    expect(await list.matchingPages(whole).next()).toEqual({ done: true, value: { kind: 'gone' } });
  });

  it('keeps nothing of the list in the clear', async () => {
    const secret = {
      seal: (context: string, plain: string) => Buffer.from(`${context}|${plain}`).toString('hex'),
      open: (context: string, sealed: string) =>
        Buffer.from(sealed, 'hex')
          .toString()
          .slice(context.length + 1),
    };
    const values: string[] = [];
    const store = memoryStore(clock());
    const till = service(100);
    const list = createServiceList<Item>({
      store: {
        ...store,
        create: (key, value, options) => (values.push(key + value), store.create(key, value, options)),
      },
      sealer: secret,
      name: 'things',
      item: z.object({ id: z.string() }),
      readPage: till.readPage,
      matches: () => true,
      now: () => 1,
    });
    await list.begin(owner);
    await page(list, 1);
    expect(values.join('\n')).not.toMatch(/item-|"c1"/);
  });
});

onBothStores('a list of the service', (openStores) => {
  it('is one list for two replicas that read the same pages at once', async () => {
    const { one, two, close } = await openStores();
    const till = service(500);
    const [first, second] = [open(one, till), open(two, till)];
    const of = await first.begin(owner);
    const request = { ...of, filter: 'item', number: 0, mostCalls: 99 };
    const answers = await Promise.all([first.show(request), second.show(request), first.show(request)]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ found: 500, reading: { pages: 10, end: 'last_page' } });
    }
    expect(await second.latest(owner)).toEqual(of);
    await close();
  });
});
