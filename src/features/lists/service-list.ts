import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ServiceFailure } from '../../domain/failure.ts';
import {
  largestPage,
  type ListAnswer,
  type ListPage,
  type ReadPage,
  type Reading,
  type ReadingStop,
} from '../../domain/service-page.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { RecordStore } from '../../records/change-record.ts';

/** A list that is being read, for one person. Nobody else can go on with it, whatever name they give. */
export type ListOf = { owner: string; list: string };

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

type ServiceListDeps<Item> = ServicePagesDeps<Item> & {
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

type ServicePagesDeps<Item> = {
  store: RecordStore;
  sealer: Sealer;
  /** Keeps the kinds of lists apart: `terminals`. */
  name: string;
  item: z.ZodType<Item>;
  readPage: ReadPage<Item>;
  now: () => number;
};

/** How long a page that was read is kept. */
const keepMs = 30 * 60_000;

/** One page as it is kept, sealed. `before`: the items of all earlier pages. */
type KeptPage<Item> = {
  items: readonly Item[];
  before: number;
  readAt: number;
  end: Reading['end'];
  cursor?: string | undefined;
};

type Step<Item> = { kind: 'page'; page: KeptPage<Item>; isRead: boolean } | WalkStop;

/** Why a walk ended before the list did. */
export type WalkStop = ReadingStop | { kind: 'gone' };

/** `calls`: of the service, in this walk so far. */
type Walked<Item> = { page: KeptPage<Item>; calls: number };

type ServicePages<Item> = {
  /** The first page, if the list is remembered. */
  first(of: ListOf): Promise<KeptPage<Item> | undefined>;
  /** Reads the first page anew. Throws ServiceFailure. */
  begin(of: ListOf): Promise<void>;
  /** Page after page from the beginning, reading on where it must. Gives why it ended; undefined at the list's own end. */
  walk(of: ListOf, mostCalls: number): AsyncGenerator<Walked<Item>, WalkStop | undefined>;
};

/**
 * The pages of lists as the service gave them, each kept under its own number and never changed again: of two that
 * read the same page at once the first to keep it decides, its cursor included, on whatever replica.
 */
function createServicePages<Item>(deps: ServicePagesDeps<Item>): ServicePages<Item> {
  const { store, sealer, name, now } = deps;
  const kept = z.object({
    items: z.array(deps.item),
    before: z.number(),
    readAt: z.number(),
    end: z.enum(['more', 'last_page', 'repeated_cursor']),
    cursor: z.string().exactOptional(),
  });
  const baseKey = ({ owner, list }: ListOf): string => `list:${name}:${owner}:${list}`;

  async function stored(of: ListOf, number: number): Promise<KeptPage<Item> | undefined> {
    const key = `${baseKey(of)}#${number}`;
    const entry = await store.read(key);
    return entry && kept.parse(JSON.parse(sealer.open(key, entry.value)));
  }

  async function readOn(of: ListOf, number: number, last: KeptPage<Item> | undefined): Promise<Step<Item>> {
    const answer = await deps.readPage(last?.cursor);
    if (answer.kind === 'cursor_refused') return answer;
    const { items, cursor } = answer;
    const isNew = cursor === undefined || (await isNewCursor(store, `${baseKey(of)}@`, { number, cursor }));
    const end = cursor === undefined ? 'last_page' : isNew ? 'more' : 'repeated_cursor';
    const before = last === undefined ? 0 : last.before + last.items.length;
    const page: KeptPage<Item> = { items, before, readAt: now(), end, ...(end === 'more' ? { cursor } : {}) };
    const key = `${baseKey(of)}#${number}`;
    const isKept = await store.create(key, sealer.seal(key, JSON.stringify(page)), { ttlMs: keepMs });
    const first = isKept ? page : await stored(of, number);
    return first ? { kind: 'page', page: first, isRead: true } : { kind: 'gone' };
  }

  async function step(
    of: ListOf,
    number: number,
    last: KeptPage<Item> | undefined,
    mayCall: boolean,
  ): Promise<Step<Item>> {
    const found = await stored(of, number);
    if (found) return { kind: 'page', page: found, isRead: false };
    // A list begins with its first page: without it, it is forgotten, or was never this person's.
    if (!last) return { kind: 'gone' };
    if (!mayCall) return { kind: 'enough_calls' };
    try {
      return await readOn(of, number, last);
    } catch (error) {
      if (error instanceof ServiceFailure) return { kind: 'failure', failure: error };
      throw error;
    }
  }

  return {
    first: (of) => stored(of, 0),

    async begin(of) {
      const first = await readOn(of, 0, undefined);
      if (first.kind !== 'page') throw new ServiceFailure('malformed', 'The first page was refused.');
    },

    async *walk(of, mostCalls) {
      let last: KeptPage<Item> | undefined;
      let calls = 0;
      for (let number = 0; last === undefined || last.end === 'more'; number += 1) {
        // oxlint-disable-next-line no-await-in-loop -- a page is known by the one before it
        const next = await step(of, number, last, calls < mostCalls);
        if (next.kind !== 'page') return next;
        if (next.isRead) calls += 1;
        last = next.page;
        yield { page: last, calls };
      }
      return undefined;
    },
  };
}

/** Each cursor leads to one page: one that has led to another already would lead around for ever. */
async function isNewCursor(
  store: RecordStore,
  prefix: string,
  { number, cursor }: { number: number; cursor: string },
): Promise<boolean> {
  const key = prefix + createHash('sha256').update(cursor).digest('base64url').slice(0, 22);
  const from = String(number);
  if (await store.create(key, from, { ttlMs: keepMs })) return true;
  return (await store.read(key))?.value === from;
}
