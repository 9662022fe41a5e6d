import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ServiceFailure } from '../../domain/failure.ts';
import type { ReadPage, Reading, ReadingStop } from '../../domain/service-page.ts';
import type { RecordStore } from '../../records/change-record.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** A list that is being read, for one person. Nobody else can go on with it, whatever name they give. */
export type ListOf = { owner: string; list: string };

export type ServicePagesDeps<Item> = {
  store: RecordStore;
  sealer: Sealer;
  /** Keeps the kinds of lists apart: `terminals`. */
  name: string;
  item: z.ZodType<Item>;
  readPage: ReadPage<Item>;
  now: () => number;
};

/** How long a page that was read is kept. */
export const keepMs = 30 * 60_000;

/** One page as it is kept, sealed. `before`: the items of all earlier pages. */
export type KeptPage<Item> = {
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
export type Walked<Item> = { page: KeptPage<Item>; calls: number };

export type ServicePages<Item> = {
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
export function createServicePages<Item>(deps: ServicePagesDeps<Item>): ServicePages<Item> {
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
