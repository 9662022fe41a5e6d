import { ServiceFailure } from '../../domain/failure.ts';
import { largestPage, type ReadPage } from '../../payments/terminals.ts';

/** Which page to show, from 0: of the service's own pages, or with a filter of what matches, fifty at a time. */
export type ListRequest = {
  filter: string;
  number: number;
  /** How many pages may be asked of the service for this, the first of a new list not counted. */
  mostCalls: number;
  /** The list is read from its beginning, whatever of it is remembered. */
  anew?: boolean;
  /** Told after each page, so that a person who waits sees how far it is. */
  progress?: (reading: Reading, found: number) => void;
};

/**
 * A list of the payments service, read by its own cursors. What was read is remembered for half an hour, in this process
 * and for everybody who may see it; a cursor is only ever one the service returned.
 */
export type ServiceList<Item> = {
  /**
   * One page to show, reading on where it must. What stops the reading is told beside what was read. Throws
   * ServiceFailure where there is no first page.
   */
  show: (request: ListRequest) => Promise<ListPage<Item>>;
  /** What matches, page by page, with how far the list is read. Gives why it ended; undefined at the list's own end. */
  matchingPages: (
    request: Omit<ListRequest, 'number'>,
  ) => AsyncGenerator<MatchingItems<Item>, ReadingStop | undefined>;
};

export type MatchingItems<Item> = { items: readonly Item[]; reading: Reading };

type Remembered<Item> = {
  readAt: number;
  pages: (readonly Item[])[];
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

  async function open(anew = false): Promise<{ list: Remembered<Item>; calls: number }> {
    const age = remembered ? now() - remembered.readAt : Infinity;
    if (remembered && !anew && age < rememberMs) return { list: remembered, calls: 0 };
    const list: Remembered<Item> = { readAt: now(), pages: [], cursors: [], end: 'more' };
    const stop = await readNext(list);
    if (stop) throw stop.kind === 'failure' ? stop.failure : refusedFirst();
    remembered = list;
    return { list, calls: 1 };
  }

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
    list.pages.push(items);
    if (cursor === undefined) list.end = 'last_page';
    else if (list.cursors.includes(cursor)) list.end = 'repeated_cursor';
    else list.cursors.push(cursor);
    return undefined;
  }

  async function* matchingPages({
    filter,
    mostCalls,
    anew,
  }: Omit<ListRequest, 'number'>): AsyncGenerator<MatchingItems<Item>, ReadingStop | undefined> {
    const words = wordsOf(filter);
    const { list, calls } = await open(anew);
    const reading: Reading = { pages: 0, items: 0, calls, readAt: list.readAt, end: 'more' };
    for (;;) {
      if (list.pages.length === reading.pages) {
        if (list.end !== 'more') return undefined;
        if (reading.calls - calls >= mostCalls) return { kind: 'enough_calls' };
        // oxlint-disable-next-line no-await-in-loop -- a page is known by the one before it
        const stop = await readNext(list);
        if (stop) return stop;
        reading.calls += 1;
      }
      const items = list.pages[reading.pages] ?? [];
      reading.pages += 1;
      reading.items += items.length;
      reading.end = reading.pages < list.pages.length ? 'more' : list.end;
      yield { items: items.filter((item) => matches(item, words)), reading: { ...reading } };
    }
  }

  return {
    matchingPages,
    async show({ number: wanted, progress, ...request }) {
      const hasFilter = request.filter !== '';
      const found: Item[] = [];
      let reading: Reading | undefined;
      let [items, before]: [readonly Item[], number] = [[], 0];
      const walking = matchingPages(request);
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const next = await walking.next();
        const stop = next.done ? next.value : undefined;
        if (!next.done) {
          [items, before] = [next.value.items, found.length];
          found.push(...items);
          ({ reading } = next.value);
          progress?.(reading, found.length);
        }
        if (!reading) throw refusedFirst();
        const isShown = !hasFilter && reading.pages > wanted;
        if (!next.done && !isShown) continue;
        const number = hasFilter ? wanted : reading.pages - 1;
        if (hasFilter) {
          before = number * largestPage;
          items = found.slice(before, before + largestPage);
        }
        return {
          number,
          items,
          before,
          found: found.length,
          hasNext: hasFilter ? found.length > before + items.length : reading.end === 'more',
          reading,
          ...(stop && { stop }),
        };
      }
    },
  };
}

function refusedFirst(): ServiceFailure {
  return new ServiceFailure('malformed', 'The first page was refused.');
}

/** All of them must be found, in any order. */
function wordsOf(filter: string): string[] {
  return filter
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
}

/** How far a list has been read. */
export type Reading = {
  /** Pages and their items that have been read, the list's first included. */
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
