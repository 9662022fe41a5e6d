import { randomBytes } from 'node:crypto';
import {
  largestPage,
  type ListAnswer,
  type ListPage,
  type Reading,
  type ReadingStop,
} from '../../domain/service-page.ts';
import type { RecordStore } from '../../records/change-record.ts';
import {
  createServicePages,
  keepMs,
  type KeptPage,
  type ListOf,
  type ServicePagesDeps,
  type WalkStop,
} from './service-pages.ts';

/** Which page to show, from 0: of the service's own pages, or with a filter of what matches, fifty at a time. */
export type ListRequest = ListOf & {
  filter: string;
  number: number;
  /** How many pages may be asked of the service for this. */
  mostCalls: number;
  /** Told after each page, so that a person who waits sees how far it is. */
  progress?: (reading: Reading, found: number) => void;
};

/**
 * A list of the payments service, read by its own cursors. Every page that was read is kept for half an hour, sealed,
 * so that no replica asks for it again and a restart loses nothing; a cursor is only ever one the service returned.
 * All of it throws StoreUnavailable when the store is away.
 */
export type ServiceList<Item> = {
  /** Reads the first page anew. Throws ServiceFailure when the service gave no usable answer. */
  begin(owner: string): Promise<ListOf>;
  /** The list that this person began last, while it is remembered. */
  latest(owner: string): Promise<ListOf | undefined>;
  /**
   * One page to show, reading on where it must. What stops the reading is told beside what was read; a failure is
   * thrown only when there is nothing to show.
   */
  show(request: ListRequest): Promise<ListAnswer<Item>>;
  /** What matches, page by page, with how far the list is read. Gives why it ended; undefined at the list's own end. */
  matchingPages(
    request: Pick<ListRequest, 'owner' | 'list' | 'filter' | 'mostCalls'>,
  ): AsyncGenerator<MatchingItems<Item>, WalkStop | undefined>;
};

export type MatchingItems<Item> = { items: readonly Item[]; reading: Reading };

export type ServiceListDeps<Item> = ServicePagesDeps<Item> & {
  /** Whether the item is one of those that these words, lower-case, look for. */
  matches: (item: Item, words: readonly string[]) => boolean;
};

export function createServiceList<Item>(deps: ServiceListDeps<Item>): ServiceList<Item> {
  const { store, name } = deps;
  const pages = createServicePages(deps);
  const latestKey = (owner: string): string => `list:${name}:${owner}`;

  return {
    async begin(owner) {
      const of = { owner, list: randomBytes(9).toString('base64url') };
      await pages.begin(of);
      await point(store, latestKey(owner), of.list);
      return of;
    },

    async latest(owner) {
      const entry = await store.read(latestKey(owner));
      const of = entry && { owner, list: entry.value };
      return of && (await pages.first(of)) ? of : undefined;
    },

    async show(request) {
      const words = wordsOf(request.filter);
      const shown: Shown<Item> = words.length === 0 ? ownPage(request) : matchingPage(deps, request, words);
      const walking = pages.walk(request, request.mostCalls);
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const next = await walking.next();
        if (next.done) {
          const { value: end } = next;
          return end?.kind === 'gone' ? end : shown.page(end);
        }
        const { page, calls } = next.value;
        shown.add(page, calls);
        if (shown.isComplete()) return shown.page(undefined);
      }
    },

    async *matchingPages({ filter, mostCalls, ...of }) {
      const words = wordsOf(filter);
      const walking = pages.walk(of, mostCalls);
      let reading = nothingRead;
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const next = await walking.next();
        if (next.done) return next.value;
        const { page, calls } = next.value;
        reading = readingOf(reading, page, calls);
        yield { items: page.items.filter((item) => deps.matches(item, words)), reading };
      }
    },
  };
}

/** Losing the race is no harm: the other list is as good. */
async function point(store: RecordStore, key: string, list: string): Promise<void> {
  const entry = await store.read(key);
  await (entry ? store.write(entry, list, { ttlMs: keepMs }) : store.create(key, list, { ttlMs: keepMs }));
}

/** All of them must be found, in any order. */
function wordsOf(filter: string): string[] {
  return filter
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
}

/** Gathers one page to show while the list goes by; holds no more of it than that. */
type Shown<Item> = {
  add: (page: KeptPage<Item>, calls: number) => void;
  /** Nothing that is still to come can change what is shown. */
  isComplete: () => boolean;
  page: (stop: ReadingStop | undefined) => ListPage<Item>;
};

/** The service's own page of that number, or the last there is. */
function ownPage<Item>({ number: wanted, progress }: ListRequest): Shown<Item> {
  let reading = nothingRead;
  let current: KeptPage<Item> | undefined;
  return {
    add(page, calls) {
      reading = readingOf(reading, page, calls);
      current = page;
      progress?.(reading, reading.items);
    },
    isComplete: () => reading.pages > wanted,
    page: (stop) => ({
      kind: 'page',
      number: Math.max(0, reading.pages - 1),
      items: current?.items ?? [],
      before: current?.before ?? 0,
      found: reading.items,
      hasNext: reading.end === 'more',
      reading,
      ...(stop === undefined ? {} : { stop }),
    }),
  };
}

/** What matches, counted to the end of what is read, so that the numbers are the list's and not the page's. */
function matchingPage<Item>(
  { matches }: ServiceListDeps<Item>,
  { number, progress }: ListRequest,
  words: readonly string[],
): Shown<Item> {
  let reading = nothingRead;
  let found = 0;
  const before = number * largestPage;
  const items: Item[] = [];
  return {
    add(page, calls) {
      reading = readingOf(reading, page, calls);
      for (const item of page.items.filter((one) => matches(one, words))) {
        if (found >= before && items.length < largestPage) items.push(item);
        found += 1;
      }
      progress?.(reading, found);
    },
    isComplete: () => false,
    page: (stop) => ({
      kind: 'page',
      number,
      items,
      before,
      found,
      hasNext: found > before + items.length,
      reading,
      ...(stop === undefined ? {} : { stop }),
    }),
  };
}

const nothingRead: Reading = { pages: 0, items: 0, calls: 0, readAt: 0, end: 'more' };

function readingOf<Item>(reading: Reading, page: KeptPage<Item>, calls: number): Reading {
  return {
    pages: reading.pages + 1,
    items: reading.items + page.items.length,
    calls,
    readAt: reading.pages === 0 ? page.readAt : reading.readAt,
    end: page.end,
  };
}
