import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../domain/failure.ts';
import { explainStoreError } from './explain-error.ts';

const schemaVersion = 3;
/** The schema version of a file whose records were moved to Redis. */
const movedVersion = 1_000_000;
export const movedAway =
  'Its records were moved to Redis by npm run move-store. Set REDIS_URL to go on there.';

/**
 * Records and their lanes. `lanes.head_at`: the due time of the lane's oldest work. `lanes.out_count`: how many entries
 * taken with the lease are not written yet. `lanes.free_at`: set only while the lane is leased or paused. Two partial
 * indexes, on `head_at` and `free_at`, give the next lane to take, and the next to free, at once, even with a long
 * backlog. `members`: the lists that records are in. `counter.seen_at`: the store's time at the last change.
 * `counter.ahead_ms`: how far the store's clock is ahead of a machine's clock that was put back. All times are UTC
 * milliseconds.
 */
const schema = `
  create table entries (
    id integer primary key,
    key text not null unique,
    value text not null,
    version integer not null,
    lane text not null,
    attempts integer not null default 0,
    due_at integer,
    expires_at integer,
    lease integer
  ) strict;
  create index entries_work on entries (lane, due_at) where due_at is not null;
  create index entries_expiry on entries (expires_at) where expires_at is not null;
  create table lanes (
    lane text primary key,
    head_at integer,
    lease integer,
    out_count integer not null default 0,
    lease_until integer not null default 0,
    pause_until integer not null default 0,
    free_at integer
  ) strict, without rowid;
  create index lanes_free on lanes (head_at, lane) where free_at is null and head_at is not null;
  create index lanes_blocked on lanes (free_at) where free_at is not null;
  create table members (
    list text not null,
    place integer not null,
    key text not null,
    entry integer not null references entries (id) on delete cascade,
    primary key (list, place, key)
  ) strict, without rowid;
  create index members_entry on members (entry);
  create table counter (
    version integer not null,
    seen_at integer not null,
    ahead_ms integer not null
  ) strict;
  insert into counter values (0, 0, 0);
  pragma user_version = ${schemaVersion};
`;

/**
 * Opens the store's file. With these settings (WAL, synchronous=FULL) each commit waits for the disk, so it survives a
 * power cut. Creates a missing file and its folder, accessible to their owner only. Several processes may have it open.
 * Throws StoreUnavailable, with the reason, if it can't be opened, is no SQLite file, or has another version's schema.
 */
export function openStoreFile(path: string): DatabaseSync {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite would delete the log of an empty file, and with it the newest changes.
    if (!existsSync(path) && existsSync(`${path}-wal`))
      throw new Error(
        `Only its log is there, ${path}-wal. Put the file back beside it, or restore a backup.`,
      );
    closeSync(openSync(path, 'a', 0o600));
    const db = new DatabaseSync(path, { timeout: 5000 });
    try {
      db.exec('pragma synchronous = full');
      const mode = db.prepare('pragma journal_mode = wal').get()?.['journal_mode'];
      if (mode !== 'wal')
        throw new Error(`Its file system does not allow WAL (journal mode is ${String(mode)}).`);
      prepareSchema(db);
      // A killed process may have left changes in the log that the disk doesn't have. SQLite syncs what it copies from
      // there into the file.
      db.exec('pragma wal_checkpoint(passive)');
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (cause) {
    throw unopened(path, cause);
  }
}

/** The error of a store's file that can't be opened or read. It has the reason, and what to do if that is known. */
export function unopened(path: string, error: unknown): StoreUnavailable {
  const isVague = [sqlite.ioError, sqlite.cantOpen].includes(resultOf(error) ?? 0);
  const cause = isVague ? (systemError(path) ?? error) : error;
  const message = cause instanceof Error ? cause.message : 'unknown reason';
  const why = explainStoreError(message);
  const reason = resultOf(error) === sqlite.busy ? `${message}${holdersWords(path)}` : message;
  const words = why ? `${why.detail} (${reason}). ${why.fix}` : reason;
  return new StoreUnavailable(`The store file ${path} cannot be opened: ${words}`, cause);
}

const sqlite = { busy: 5, ioError: 10, malformed: 11, cantOpen: 14, notADatabase: 26 };

function resultOf(error: unknown): number | undefined {
  // The lower byte is SQLite's error code; the upper bytes are details.
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) % 256 : undefined;
}

/** The system's error at the file, the files beside it or its folder. SQLite has the same error for most. */
function systemError(path: string): unknown {
  try {
    for (const part of [path, `${path}-wal`, `${path}-shm`])
      if (part === path || statSync(part, { throwIfNoEntry: false })) closeSync(openSync(part, 'r+'));
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The processes that use the file, as Linux knows them; empty elsewhere, and of another container. */
function holdersWords(path: string): string {
  try {
    const inodes = [path, `${path}-shm`].map((part) => statSync(part, { throwIfNoEntry: false })?.ino);
    const locks = readFileSync('/proc/locks', 'utf8').matchAll(/ (\d+) [\da-f]+:[\da-f]+:(\d+) /g);
    const holders = [...locks].filter(([, , inode]) => inodes.includes(Number(inode))).map(([, pid]) => pid);
    const others = new Set(holders.filter((pid) => pid !== String(process.pid)));
    return others.size === 0 ? '' : ` by process ${[...others].join(', ')}`;
  } catch {
    return '';
  }
}

/** Opens the file, of any schema, for this process alone. Throws StoreUnavailable, also if another process has it open. */
export function lockStoreFile(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path);
    // Lock before reading: from here on no other process can open or write the file.
    db.exec('pragma locking_mode = exclusive; begin exclusive');
    return db;
  } catch (error) {
    db?.close();
    throw unopened(path, error);
  }
}

/** Whether the file is no SQLite file, or a damaged one. */
export function isDamaged({ cause }: StoreUnavailable): boolean {
  return [sqlite.malformed, sqlite.notADatabase].includes(resultOf(cause) ?? 0);
}

/** `moved`: its records are in Redis. `other`: another release's. */
export function schemaOf(db: DatabaseSync): 'current' | 'moved' | 'other' {
  const found = versionOf(db);
  if (found === movedVersion) return 'moved';
  return found === schemaVersion ? 'current' : 'other';
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}

/** Marks the file as moved: no bot starts on it any more. */
export function markMoved(db: DatabaseSync): void {
  db.exec(`pragma user_version = ${movedVersion}; commit`);
}

function prepareSchema(db: DatabaseSync): void {
  // Two processes may start at once on an empty file: the one that waits for this lock finds the schema already made.
  db.exec('begin immediate');
  const found = versionOf(db);
  if (found === 0) db.exec(schema);
  db.exec('commit');
  if (found > 0 && found < schemaVersion) {
    throw new Error(
      'It was written by an older Payops, whose records this one does not read. Run the release that wrote it, and see docs/upgrading.md.',
    );
  }
  if (found === movedVersion) {
    throw new Error(movedAway);
  }
  if (found > schemaVersion) {
    throw new Error(
      `It was written by a newer Payops (schema ${found}; this one knows ${schemaVersion}). Run that version again.`,
    );
  }
}
