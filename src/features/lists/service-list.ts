import { ServiceFailure } from '../../domain/failure.ts';
import type { ReadPage } from '../../payments/pages.ts';

/** Items on a page shown in Slack, few enough for a phone. The service's own pages are larger. */
const itemsPerPage = 10;

export type ListRequest = {
  filter: string;
  /** The number of the page to show, from 0; absent: all matches on one page. */
  number?: number;
  /** How many calls of the service to make at most, besides the one for a new list's first page. */
  mostCalls: number;
  /** Ignores the cache and reads from the first page. */
  reload?: boolean;
  /** Called after each page, to show a waiting person the progress. */
  progress?: (reading: Reading, found: number) => void;
};

/**
 * Returns one page of a list of the payments service. Reads as many of the service's pages as needed; with a filter,
 * all of them. Pages are cached for half an hour in this process, for everybody who may see the list. If reading stops
 * early, `stop` says why, beside what was read. Throws ServiceFailure if the first page can't be read.
 */
export type ServiceList<Item> = (request: ListRequest) => Promise<ListPage<Item>>;

type Remembered<Item> = {
  readAt: number;
  pages: number;
  items: Item[];
  /** All cursors the service has returned; the last one leads to the next page. */
  cursors: string[];
  end: Reading['end'];
  /** The page being read now: concurrent requests share the call. */
  next?: Promise<ReadingStop | undefined> | undefined;
};

const rememberMs = 30 * 60_000;

/** `matches`: whether an item matches all of the lower-case words. */
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

  function open(reload: boolean | undefined): Remembered<Item> {
    if (remembered && !reload && now() - remembered.readAt < rememberMs) return remembered;
    return { readAt: now(), pages: 0, items: [], cursors: [], end: 'more' };
  }

  /** Returns a function that gives the matches among the items read so far. It checks each item once. */
  function matching({ items }: Remembered<Item>, words: readonly string[]): () => readonly Item[] {
    if (words.length === 0) return () => items;
    const found: Item[] = [];
    let checked = 0;
    return () => {
      for (const item of items.slice(checked)) if (matches(item, words)) found.push(item);
      checked = items.length;
      return found;
    };
  }

  return async function show({ filter, number, mostCalls, reload, progress }) {
    const list = open(reload);
    const words = filter.toLowerCase().split(/\s+/u).filter(Boolean);
    const enough = words.length === 0 && number !== undefined ? (number + 1) * itemsPerPage : Infinity;
    let left = list.pages === 0 ? mostCalls + 1 : mostCalls;
    const soFar = matching(list, words);
    for (let stop: ReadingStop | undefined; ;) {
      const { pages, readAt, end } = list;
      const found = soFar();
      const reading: Reading = { pages, items: list.items.length, readAt, end };
      if (pages > 0) progress?.(reading, found.length);
      if (stop || end !== 'more' || found.length >= enough) {
        if (stop?.kind === 'failure' && pages === 0) throw stop.failure;
        if (stop && pages === 0) throw new ServiceFailure('malformed', 'The first page was refused.');
        const page = pageOf(found, number);
        const hasNext = page.hasNext || (words.length === 0 && end === 'more');
        return { ...page, hasNext, reading, ...(stop && { stop }) };
      }
      stop = left === 0 ? { kind: 'enough_calls' } : await readNext(list);
      if (stop) continue;
      left -= 1;
      remembered = list;
    }
  };
}

/** The page with this number, or the last page if there are fewer; without a number, all matches. */
function pageOf<Item>(
  found: readonly Item[],
  number: number | undefined,
): Pick<ListPage<Item>, 'number' | 'items' | 'before' | 'found' | 'hasNext'> {
  if (number === undefined) {
    return { number: 0, items: found, before: 0, found: found.length, hasNext: false };
  }
  const shown = Math.min(number, Math.max(0, Math.ceil(found.length / itemsPerPage) - 1));
  const before = shown * itemsPerPage;
  const items = found.slice(before, before + itemsPerPage);
  return {
    number: shown,
    items,
    before,
    found: found.length,
    hasNext: found.length > before + items.length,
  };
}

export type Reading = {
  pages: number;
  items: number;
  /** When the list's first page was read, UTC ms. */
  readAt: number;
  /** `more`: the service returned a cursor for a next page. */
  end: 'more' | 'last_page' | 'repeated_cursor';
};

/** Why reading stopped early. */
export type ReadingStop =
  | { kind: 'failure'; failure: ServiceFailure }
  | { kind: 'cursor_refused' }
  /** `mostCalls` is used up. */
  | { kind: 'enough_calls' };

export type ListPage<Item> = {
  /** From 0. */
  number: number;
  items: readonly Item[];
  /** How many items, or matches, come before the page's first one. */
  before: number;
  /** Matches so far; without a filter, `reading.items`. */
  found: number;
  hasNext: boolean;
  reading: Reading;
  stop?: ReadingStop;
};
