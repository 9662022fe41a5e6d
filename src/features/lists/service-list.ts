import { ServiceFailure } from '../../domain/failure.ts';
import type { ReadPage } from '../../payments/terminals.ts';

/** As many as a person reads at once, on a phone too. The service is asked for its own pages, which are larger. */
const shownPage = 10;

export type ListRequest = {
  filter: string;
  /** Which ten of what matches, from 0; all of them when absent. */
  number?: number;
  /** How many pages may be asked of the service for this, the first of a new list not counted. */
  mostCalls: number;
  /** The list is read from its beginning, whatever of it is remembered. */
  anew?: boolean;
  /** Told after each page, so that a person who waits sees how far it is. */
  progress?: (reading: Reading, found: number) => void;
};

/**
 * What to show of a list of the payments service, which is read by its own cursors as far as that needs: with a filter to
 * its end. What was read is remembered for half an hour, in this process and for everybody who may see it; a cursor is
 * only ever one the service returned. What stops the reading is told beside what was read. Throws ServiceFailure where
 * there is no first page.
 */
export type ServiceList<Item> = (request: ListRequest) => Promise<ListPage<Item>>;

type Remembered<Item> = {
  readAt: number;
  pages: number;
  items: Item[];
  /** Those that have led to a page; the last leads to the next. */
  cursors: string[];
  end: Reading['end'];
  /** The page that is being read: of two who want it, one asks. */
  next?: Promise<ReadingStop | undefined> | undefined;
};

const rememberMs = 30 * 60_000;

/** `matches`: whether the item is one of those that these words, lower-case, look for. */
export function createServiceList<Item>(
  readPage: ReadPage<Item>,
  matches: (item: Item, words: readonly string[]) => boolean,
  now: () => number,
): ServiceList<Item> {
  let remembered: Remembered<Item> | undefined;

  function readNext(list: Remembered<Item>): Promise<ReadingStop | undefined> {
    list.next ??= read(list).finally(() => (list.next = undefined));
    return list.next;
  }

  async function read(list: Remembered<Item>): Promise<ReadingStop | undefined> {
    const answer = await readPage(list.cursors.at(-1)).catch((error: unknown): ReadingStop => {
      if (error instanceof ServiceFailure) return { kind: 'failure', failure: error };
      throw error;
    });
    if (answer.kind !== 'page') return answer;
    const { items, cursor } = answer;
    list.pages += 1;
    list.items.push(...items);
    if (cursor === undefined) list.end = 'last_page';
    else if (list.cursors.includes(cursor)) list.end = 'repeated_cursor';
    else list.cursors.push(cursor);
    return undefined;
  }

  function open(anew = false): Remembered<Item> {
    if (remembered && !anew && now() - remembered.readAt < rememberMs) return remembered;
    return { readAt: now(), pages: 0, items: [], cursors: [], end: 'more' };
  }

  /** What matches of what is read by then; each item is judged once, however often that is asked. */
  function matching({ items }: Remembered<Item>, words: readonly string[]): () => readonly Item[] {
    if (words.length === 0) return () => items;
    const found: Item[] = [];
    let judged = 0;
    return () => {
      for (const item of items.slice(judged)) if (matches(item, words)) found.push(item);
      judged = items.length;
      return found;
    };
  }

  return async function show({ filter, number, mostCalls, anew, progress }) {
    const list = open(anew);
    const words = filter.toLowerCase().split(/\s+/u).filter(Boolean);
    const enough = words.length === 0 && number !== undefined ? (number + 1) * shownPage : Infinity;
    let [calls, left] = [0, list.pages === 0 ? mostCalls + 1 : mostCalls];
    const soFar = matching(list, words);
    for (let stop: ReadingStop | undefined; ;) {
      const { pages, readAt, end } = list;
      const found = soFar();
      const reading: Reading = { pages, items: list.items.length, calls, readAt, end };
      if (pages > 0) progress?.(reading, found.length);
      if (stop || end !== 'more' || found.length >= enough) {
        if (stop && pages === 0) throw failureOf(stop);
        const page = cutOf(found, number);
        const hasNext = page.hasNext || (words.length === 0 && end === 'more');
        return { ...page, hasNext, reading, ...(stop && { stop }) };
      }
      stop = left === 0 ? { kind: 'enough_calls' } : await readNext(list);
      if (stop) continue;
      [calls, left] = [calls + 1, left - 1];
      remembered = list;
    }
  };
}

function failureOf(stop: ReadingStop): ServiceFailure {
  return stop.kind === 'failure'
    ? stop.failure
    : new ServiceFailure('malformed', 'The first page was refused.');
}

/** Ten of what was found, or the last of them where there are fewer; all of it without a number. */
function cutOf<Item>(
  found: readonly Item[],
  number: number | undefined,
): Pick<ListPage<Item>, 'number' | 'items' | 'before' | 'found' | 'hasNext'> {
  if (number === undefined) {
    return { number: 0, items: found, before: 0, found: found.length, hasNext: false };
  }
  const shown = Math.min(number, Math.max(0, Math.ceil(found.length / shownPage) - 1));
  const before = shown * shownPage;
  const items = found.slice(before, before + shownPage);
  return {
    number: shown,
    items,
    before,
    found: found.length,
    hasNext: found.length > before + items.length,
  };
}

/** How far a list has been read. */
export type Reading = {
  pages: number;
  items: number;
  /** Calls of the service that this very request made. */
  calls: number;
  /** When its first page was read, UTC milliseconds. */
  readAt: number;
  /** `more`: the service has given a cursor for a next page. */
  end: 'more' | 'last_page' | 'repeated_cursor';
};

/** Why reading stopped before it had come as far as it was to. */
export type ReadingStop =
  | { kind: 'failure'; failure: ServiceFailure }
  | { kind: 'cursor_refused' }
  /** As many calls as one request makes. */
  | { kind: 'enough_calls' };

/** What stands on one shown page of a list. */
export type ListPage<Item> = {
  /** From 0. */
  number: number;
  items: readonly Item[];
  /** Of the first item: how many stand before it, on this list or among those that match. */
  before: number;
  /** Without a filter the same as `reading.items`. */
  found: number;
  hasNext: boolean;
  reading: Reading;
  stop?: ReadingStop;
};
