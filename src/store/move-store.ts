import type { DatabaseSync } from 'node:sqlite';
import { lanesScript, releaseScript, reserveScript, timesScript, type Script } from './redis-scripts.ts';
import { openRedisStore, type ScriptRunner } from './redis-store.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { lockStoreFile, markMoved, schemaOf } from './sqlite-file.ts';
import { toEntry } from './sqlite-store.ts';
import type { CreateOptions, Entry, Store, WriteOptions } from './store.ts';

/** How many records were moved, and how many of them are work. */
export type Moved = { records: number; work: number };

export type MoveEnd =
  | ({ kind: 'moved' } & Moved)
  /** `checkKeys` refused; nothing was moved. */
  | { kind: 'other_keys'; why: string }
  /** The prefix already has records. */
  | { kind: 'not_empty' }
  /** The file was moved before, so bots may have worked on Redis since. */
  | { kind: 'was_moved' }
  /** This many records differ in Redis. Redis stays reserved, so no bot starts on it. */
  | { kind: 'differs'; records: number };

type Move = {
  /** The store's file. No bot may run on it. */
  path: string;
  /** The machine's clock, UTC ms. */
  now: () => number;
  redis: ScriptRunner;
  prefix: string;
  /** Why these keys can't be the bot's; undefined if they can. */
  checkKeys?: (file: Pick<Store, 'read'>) => Promise<string | undefined>;
  /** Returns the value as it goes to Redis, resealed with the keys that bots have there. */
  change: (key: string, value: string) => string;
};

const recordsAtOnce = 64;
const deadlineMs = 10_000;
/** Records that expire within this time are left out: they could be gone before they are read back. */
const expiringMs = 60_000;

/**
 * Copies every record of a store's file into an empty Redis, with its lists, lane, attempts, and due time or expiry.
 * Reads all of them back; only then may bots start on Redis, and no longer on the file. If interrupted, the file is
 * unchanged and Redis stays reserved, and the next run starts over. Throws StoreUnavailable and Redis's own errors.
 */
export async function moveStore({ path, now, redis, prefix, checkKeys, change }: Move): Promise<MoveEnd> {
  const db = lockStoreFile(path);
  const run = (script: Script, ...args: string[]): Promise<unknown> =>
    redis.eval(script.text, { keys: [`{${prefix}}`], arguments: args });
  const store = openRedisStore(redis, { prefix, deadlineMs });
  const moved = { records: 0, work: 0 };
  let differing = 0;
  try {
    const schema = schemaOf(db);
    if (schema === 'other') throw new StoreUnavailable(`The store file ${path} is none of this Payops.`);
    const why = await checkKeys?.(readerOf(db));
    if (why !== undefined) return { kind: 'other_keys', why };
    const wasMoved = schema === 'moved';
    if ((await run(reserveScript, wasMoved ? 'interrupted' : '')) !== 1)
      return { kind: wasMoved ? 'was_moved' : 'not_empty' };
    // In order, with one page in memory.
    const aheadMs = Number(db.prepare('select ahead_ms from counter').get()?.['ahead_ms']);
    for (const page of pagesOf(db, Math.floor(now()) + aheadMs)) {
      const copies = page.map((record) => ({ ...record, value: change(record.key, record.value) }));
      await Promise.all(copies.map(({ key, value, options }) => store.create(key, value, options)));
      await run(lanesScript, ...copies.flatMap(({ key, lane, attempts }) => [key, lane, attempts]));
      const found = await Promise.all(copies.map(({ key }) => store.read(key)));
      const times = (await run(timesScript, ...copies.map(({ key }) => key))) as StoredTimes[];
      differing += copies.filter((copy, at) => !isSame(copy, found[at], times[at])).length;
      moved.records += copies.length;
      moved.work += copies.filter(({ options }) => 'delayMs' in options).length;
    }
    if (differing > 0) return { kind: 'differs', records: differing };
    // Between these two steps no bot can start on either store.
    markMoved(db);
    await run(releaseScript);
    return { kind: 'moved', ...moved };
  } finally {
    db.close();
  }
}

/** Reads records of the locked file. */
function readerOf(db: DatabaseSync): Pick<Store, 'read'> {
  const find = db.prepare('select key, value, version, lane, attempts from entries where key = ?');
  return {
    async read(key) {
      const row = find.get(key);
      return row && toEntry(row);
    },
  };
}

type Copy = { key: string; value: string; lane: string; attempts: string; options: CreateOptions };

/** A record's answer of `timesScript`. */
type StoredTimes = [dueInMs: string, endsInMs: number, lists: string[]];

function isSame(
  { value, lane, attempts, options }: Copy,
  found: Entry | undefined,
  times?: StoredTimes,
): boolean {
  const { delayMs, ttlMs, index = {} }: WriteOptions = options;
  const [dueInMs = '', endsInMs = -1, lists = []] = times ?? [];
  const wanted = Object.entries(index).map(([name, place]) => `${name} ${place}`);
  return (
    found?.value === value &&
    found.lane === lane &&
    String(found.attempts) === attempts &&
    isSameTime(dueInMs === '' ? undefined : Number(dueInMs), delayMs) &&
    isSameTime(endsInMs < 0 ? undefined : endsInMs, ttlMs) &&
    lists.toSorted().join('\n') === wanted.toSorted().join('\n')
  );
}

/** Whether the time left is the time that was written, less at most a minute since then; or both are undefined. */
function isSameTime(leftMs: number | undefined, writtenMs: number | undefined): boolean {
  if (leftMs === undefined || writtenMs === undefined) return leftMs === writtenMs;
  return leftMs <= writtenMs && leftMs > writtenMs - expiringMs;
}

/** Pages in the order of due times, so that each lane keeps its order. */
function* pagesOf(db: DatabaseSync, nowMs: number): Generator<Copy[]> {
  const entries = db
    .prepare('select * from entries where expires_at is null or expires_at > ? order by due_at, id')
    .iterate(nowMs + expiringMs);
  const members = db.prepare('select list, place from members where entry = ?');
  let page: Copy[] = [];
  for (const row of entries) {
    const { due_at: dueAt, expires_at: expiresAt, id = null } = row;
    const lane = String(row['lane']);
    const places = members.all(id).map(({ list, place }) => [String(list), Number(place)] as const);
    page.push({
      key: String(row['key']),
      value: String(row['value']),
      lane,
      attempts: String(row['attempts']),
      options: {
        ...(typeof dueAt === 'number' && { delayMs: Math.max(0, dueAt - nowMs), lane }),
        ...(typeof expiresAt === 'number' && { ttlMs: expiresAt - nowMs }),
        ...(places.length > 0 && { index: Object.fromEntries(places) }),
      },
    });
    if (page.length === recordsAtOnce) {
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}
