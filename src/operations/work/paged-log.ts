import { setImmediate as breathe } from 'node:timers/promises';
import type { Sealer } from '../../domain/sealer.ts';
import { createChangeRecord, type Change, type RecordStore } from './change-record.ts';

export type PagedLogDeps<Item, Summary> = {
  store: RecordStore;
  sealer: Sealer;
  /** In front of every name, with its colon: `storm-list:`. */
  prefix: string;
  ttlMs: number;
  idOf: (item: Item) => string;
  empty: Summary;
  /** What the log comes to with one more item; stored beside the items, so it has to stay small. */
  summarise: (summary: Summary, item: Item) => Summary;
};

export type LogHead<Summary> = { summary: Summary; count: number };

/**
 * Things that happened, in the order they were added, in as many records of the store as they need; all sealed.
 * Every method throws StoreUnavailable.
 */
export type PagedLog<Item, Summary> = {
  /**
   * Adds the item unless one with its id is among the last fifty at least, so that work done again after a crash
   * counts once. Says where it stands, from 0.
   */
  add(name: string, item: Item): Promise<number>;
  /** Where the item with that id stands, the whole log looked through; below 0: nowhere. */
  indexOf(name: string, id: string): Promise<number>;
  /** Undefined: nothing was added yet, or it is forgotten. */
  head(name: string): Promise<LogHead<Summary> | undefined>;
  /** The items of one page, oldest first; pages are numbered from 0. Empty beyond the last. */
  page(name: string, number: number): Promise<readonly Item[]>;
  /** Every item, oldest first, each id once: also one that was added again when `add` could not know it any more. */
  all(name: string): Promise<readonly Item[]>;
};

/** As it is stored, sealed: the page that is being filled, and the ids of the one before it. */
type Head<Item, Summary> = { summary: Summary; full: number; items: Item[]; before: string[] };

export const itemsPerPage = 50;
const pagesAtOnce = 16;
/** The logs that grow at the same time: an hour's, and a storm's for each of some channels. */
const headsKnown = 8;

export function createPagedLog<Item, Summary>(deps: PagedLogDeps<Item, Summary>): PagedLog<Item, Summary> {
  const { store, sealer, prefix, ttlMs, idOf } = deps;
  const changeRecord = createChangeRecord(store);
  const heads = createHeads<Item, Summary>(sealer);
  const headKey = (name: string): string => `${prefix}${name}`;
  const pageKey = (name: string, number: number): string => `${prefix}${name}#${number}`;

  async function readHead(name: string): Promise<Head<Item, Summary> | undefined> {
    const key = headKey(name);
    const entry = await store.read(key);
    return entry && heads.openHead(key, entry.value);
  }

  /** Of a page that is full, and so never changes again. */
  async function readPage(name: string, number: number): Promise<Item[]> {
    const key = pageKey(name, number);
    const entry = await store.read(key);
    return entry ? (JSON.parse(sealer.open(key, entry.value)) as Item[]) : [];
  }

  /** The full page goes first: a crash in between stores the very same page again. */
  async function turned(name: string, head: Head<Item, Summary>): Promise<Head<Item, Summary>> {
    if (head.items.length < itemsPerPage) return head;
    const key = pageKey(name, head.full);
    await store.create(key, sealer.seal(key, JSON.stringify(head.items)), { ttlMs });
    return { ...head, full: head.full + 1, items: [], before: head.items.map(idOf) };
  }

  /** Every item as it was added, oldest first. */
  async function readAll(name: string): Promise<Item[]> {
    const head = await readHead(name);
    if (!head) return [];
    const items: Item[] = [];
    for (let number = 0; number < head.full; number += pagesAtOnce) {
      const some = Math.min(pagesAtOnce, head.full - number);
      const pages = Array.from({ length: some }, (_, index) => readPage(name, number + index));
      // oxlint-disable-next-line no-await-in-loop -- a long log must not keep everything else waiting
      items.push(...(await Promise.all(pages)).flat());
      // oxlint-disable-next-line no-await-in-loop
      await breathe();
    }
    return [...items, ...head.items];
  }

  return {
    add(name, item) {
      const key = headKey(name);
      return changeRecord(key, async (value): Promise<Change<number>> => {
        const head =
          value === undefined
            ? { summary: deps.empty, full: 0, items: [], before: [] }
            : heads.openHead(key, value);
        const recent = [...head.before, ...head.items.map(idOf)];
        const known = recent.indexOf(idOf(item));
        if (known >= 0) {
          return { kind: 'keep', result: head.full * itemsPerPage - head.before.length + known };
        }
        const room = await turned(name, head);
        const summary = deps.summarise(room.summary, item);
        const next = { ...room, summary, items: [...room.items, item] };
        const result = room.full * itemsPerPage + room.items.length;
        return { kind: 'write', value: heads.sealHead(key, next), ttlMs, result };
      });
    },

    async indexOf(name, id) {
      return (await readAll(name)).findIndex((one) => idOf(one) === id);
    },

    async head(name) {
      const head = await readHead(name);
      return head && asSeen(head);
    },

    async page(name, number) {
      const head = await readHead(name);
      if (!head || number >= head.full) return number === head?.full ? head.items : [];
      return await readPage(name, number);
    },

    async all(name) {
      const byId = new Map<string, Item>();
      for (const item of await readAll(name)) {
        const id = idOf(item);
        if (!byId.has(id)) byId.set(id, item);
      }
      return [...byId.values()];
    },
  };
}

/**
 * Opens and seals heads, and remembers those that this process sealed last: sealed text is never the same twice, so
 * the same text is the same head, and adding to a log need not read all of its page again.
 */
function createHeads<Item, Summary>(sealer: Sealer) {
  const sealed = new Map<string, { value: string; head: Head<Item, Summary> }>();
  return {
    openHead(key: string, value: string): Head<Item, Summary> {
      const last = sealed.get(key);
      return last?.value === value ? last.head : (JSON.parse(sealer.open(key, value)) as Head<Item, Summary>);
    },
    sealHead(key: string, head: Head<Item, Summary>): string {
      const value = sealer.seal(key, JSON.stringify(head));
      sealed.delete(key);
      sealed.set(key, { value, head });
      const [oldest] = sealed.keys();
      if (sealed.size > headsKnown && oldest !== undefined) sealed.delete(oldest);
      return value;
    },
  };
}

function asSeen<Item, Summary>({ summary, full, items }: Head<Item, Summary>): LogHead<Summary> {
  return { summary, count: full * itemsPerPage + items.length };
}
