import { z } from 'zod';
import type { Account, Finder } from '../../account.ts';
import type { FoundRecord } from '../../domain/found-record.ts';
import type { Span } from '../../domain/span.ts';
import { searchList, type FoundBy } from '../../records/found-by.ts';
import { isUnreadable } from '../../records/records.ts';
import { NewerRelease } from '../../records/newer-release.ts';
import type { Entry } from '../../store/store.ts';

export const shownKinds = ['failed', 'open'] as const;
export type ShownKind = (typeof shownKinds)[number];

/** `list`: the list's keyed hash. `after`: the end of the previous page. */
type Search = {
  list: string;
  show?: ShownKind | undefined;
  day?: Span | undefined;
  after?: string | undefined;
};

/**
 * Newest first. `next`: there may be older ones. `unread`: records whose sealing key is gone, or that a newer release
 * wrote.
 */
export type FoundPage = { records: readonly FoundRecord[]; next?: string; unread: number };

type ForFind = Pick<Account, 'store' | 'fingerprint' | 'now'>;

/** At most this many records are read for one page, which may then be short if few match the filter. */
const mostRead = 200;

/** The key of the time since which records are in the lists. */
const sinceKey = 'found-since';
const timeText = z.coerce.number();

/**
 * Reads the bot's records of a customer or a card from the list of that customer or card, so a page costs the same
 * however large the store is. Methods throw StoreUnavailable.
 */
export function openFoundRecords(account: ForFind, finders: readonly Finder[]) {
  const { store, now } = account;

  const listOf = (known: FoundBy): Promise<string> => searchList(account.fingerprint, known);

  /** Records up to this time are hidden: the customer was forgotten then. */
  async function forgottenUntil(list: string): Promise<number> {
    const entry = await store.read(forgottenKey(list));
    return entry ? timeText.parse(entry.value) : -Infinity;
  }

  /**
   * Returns a check whether a record's customer was forgotten. Needed for card lists: the records of a forgotten
   * customer are still in them.
   */
  function createIsForgotten() {
    const until = new Map<string, Promise<number>>();
    return async function isForgotten({ customerEmail = '', atMs }: FoundRecord): Promise<boolean> {
      if (customerEmail.trim() === '') return false;
      const list = await listOf({ customerEmail });
      const untilMs = until.get(list) ?? forgottenUntil(list);
      until.set(list, untilMs);
      return atMs <= (await untilMs);
    };
  }

  async function open(entry: Entry): Promise<FoundRecord | 'unread' | undefined> {
    const finder = finders.find(({ prefix }) => entry.key.startsWith(prefix));
    try {
      return await finder?.read(entry);
    } catch (error) {
      if (isUnreadable(error) || error instanceof NewerRelease) return 'unread';
      throw error;
    }
  }

  return {
    listOf,

    async page({ list, show, day, after }: Search, max: number): Promise<FoundPage> {
      const records: FoundRecord[] = [];
      const isForgotten = createIsForgotten();
      const oldestMs = Math.max(day?.fromMs ?? -Infinity, (await forgottenUntil(list)) + 1);
      let [next, read, unread] = [after, 0, 0];
      do {
        const wanted = { max: max - records.length, newestFirst: true };
        const from = next !== undefined ? { after: next } : day ? { from: day.untilMs - 1 } : {};
        const listed = await store.list(list, { ...wanted, ...from });
        const opened = await Promise.all(listed.entries.map(open));
        read += opened.length;
        ({ next } = listed);
        for (const record of opened) {
          if (record === 'unread') unread += 1;
          if (record === undefined || record === 'unread') continue;
          if (record.atMs < oldestMs) return { records, unread };
          if (fits(record, show) && !(await isForgotten(record))) records.push(record);
        }
      } while (next !== undefined && records.length < max && read < mostRead);
      return { records, unread, ...(next !== undefined && { next }) };
    },

    /** Since when records are in the lists, UTC ms. The first process to ask stores it. */
    async since(): Promise<number> {
      const nowMs = now();
      if (await store.create(sinceKey, String(nowMs))) return nowMs;
      const entry = await store.read(sinceKey);
      return entry ? timeText.parse(entry.value) : nowMs;
    },
  };
}

function fits({ isFailed, isOpen }: FoundRecord, show: ShownKind | undefined): boolean {
  return show === undefined || (show === 'failed' ? isFailed : isOpen);
}

/**
 * Hides a customer's present records from `/pay find`, by e-mail and by card; later records are found. The records
 * themselves are kept for their usual time. Throws StoreUnavailable.
 */
export async function forgetFound(account: ForFind, customerEmail: string): Promise<void> {
  const { store, fingerprint, now } = account;
  const key = forgottenKey(await searchList(fingerprint, { customerEmail }));
  for (;;) {
    const value = String(now());
    const entry = await store.read(key);
    if (entry ? await store.write(entry, value) : await store.create(key, value)) return;
  }
}

function forgottenKey(list: string): string {
  return `forgotten:${list}`;
}
