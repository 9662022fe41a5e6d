import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { promisify } from 'node:util';
import { StoreUnavailable } from '../domain/failure.ts';
import {
  blockMs,
  checkTake,
  readTiming,
  readIndex,
  readList,
  toListed,
  written,
  type Timing,
} from './store-options.ts';
import { openStoreFile, unopened } from './sqlite-file.ts';
import { mostDue, type Entry, type Store } from './store.ts';

/**
 * The store in one file, for one machine. A change whose call has resolved survives kill -9 and power cuts. `now` (UTC
 * ms) is the machine's clock. `sync` resolves once the disk has all that was written to the file descriptor. Processes
 * with the same clock may share the file; a call then blocks this process for up to 5 s while it waits for another's
 * transaction, and may see another's change just before the disk has it. Throws StoreUnavailable if the file can't be
 * opened.
 */
export function openSqliteStore({ path, now, sync = promisify(fdatasync) }: SqliteOptions): Store {
  const db = openStoreFile(path);
  // A commit doesn't wait for the disk; its call does.
  db.exec('pragma synchronous = normal');
  const statements = prepareStatements(db);
  const clock = openClock(db, now);
  const disk = openDisk(db, path, sync);
  const group = createGroupCommit(db, clock, disk);

  /** Resolves once the disk has what was read: nobody may act on a change that a power cut could still undo. */
  async function reading<T>(read: () => T): Promise<T> {
    let found: T;
    try {
      found = read();
    } catch (cause) {
      throw new StoreUnavailable('The store file cannot be read.', cause);
    }
    await disk.hasAll();
    return found;
  }

  return {
    async create(key, value, createOptions = {}) {
      const timing = readTiming(createOptions);
      const lane = 'lane' in createOptions ? (createOptions.lane ?? key) : key;
      const lists = readIndex(createOptions.index ?? {});
      return group.run((turn) => createRecord(statements, turn, { key, value, lane, timing, lists }));
    },
    async read(key) {
      return reading(() => {
        const row = statements.read.get(key, clock.read().nowMs);
        return row === undefined ? undefined : toEntry(row);
      });
    },
    async write(entry, value, writeOptions = {}) {
      const timing = readTiming(writeOptions);
      const pauseMs = blockMs('pauseMs', writeOptions.pauseMs ?? 0);
      const lists = writeOptions.index && readIndex(writeOptions.index);
      const version = await group.run((turn) =>
        writeRecord(statements, turn, { entry, value, timing, pauseMs, lane: writeOptions.lane, lists }),
      );
      return version === undefined ? undefined : written(entry, value, version, writeOptions);
    },
    async take(leaseMs, max = 1, lanes = '') {
      const request = { ...checkTake(leaseMs, max), lanes };
      return group.run((turn) => takeLane(statements, turn, request));
    },
    async replace({ key, version }, value, index) {
      const lists = index && readIndex(index);
      return group.run((turn) => {
        const next = turn.version + 1;
        const replaced = statements.replace.get({ value, next, key, version, now: turn.now });
        if (!replaced) return false;
        turn.version = next;
        if (lists) putInLists(statements, key, replaced['id'] ?? null, lists);
        return true;
      });
    },
    async list(name, listOptions) {
      const { start, limit, newestFirst } = readList(listOptions);
      const statement = newestFirst ? statements.newest : statements.oldest;
      return reading(() => {
        const rows = statement.all(name, start.place, start.key, clock.read().nowMs, limit);
        const found = rows.map((row) => ({ ...toEntry(row), place: Number(row['place']) }));
        return toListed(found, listOptions.max);
      });
    },
    async keysAfter(after) {
      return reading(() => {
        const keys = statements.keys.all(after, keysAtOnce).map((row) => String(row['key']));
        return { keys, next: keys.length < keysAtOnce ? undefined : keys.at(-1) };
      });
    },
    async backlog() {
      return reading(() => {
        const { nowMs } = clock.read();
        const due = { free: 0, leased: 0, paused: 0 };
        for (const row of statements.due.all({ now: nowMs, most: mostDue })) {
          due[String(row['state']) as keyof typeof due] = Number(row['records']);
        }
        const oldestMs = Number(statements.oldestDue.get()?.['head_at'] ?? nowMs);
        return { oldestDueMs: Math.max(0, nowMs - oldestMs), due };
      });
    },
    async ping() {
      await group.run((turn) => {
        turn.version += 1;
      });
    },
    async close() {
      await group.close();
      if (db.isOpen) db.close();
    },
  };
}

type SqliteOptions = { path: string; now: () => number; sync?: (file: number) => Promise<void> };

function openDisk(db: DatabaseSync, path: string, sync: (file: number) => Promise<void>) {
  try {
    // SQLite puts its log next to the file, also if `path` is a symbolic link.
    return createDisk(path, `${db.location() ?? path}-wal`, sync);
  } catch (cause) {
    db.close();
    throw unopened(path, cause);
  }
}

/**
 * Waits for the disk outside the event loop: inside it, a busy disk would delay every other answer by a hundred
 * milliseconds and more. All commits are in `log` until they are in the store's file at `path`, too. After a failed
 * sync nobody knows what the disk has, and another sync would not tell: so all later calls reject, too, and nothing more
 * is committed.
 */
function createDisk(path: string, log: string, sync: (file: number) => Promise<void>) {
  const file = openSync(log, 'r+');
  const opened = [path, log].map((part) => ({ part, id: fileId(part) }));
  let running: Promise<void> | undefined;
  /** The sync after the running one, for changes made since that began. */
  let following: Promise<void> | undefined;
  let failure: StoreUnavailable | undefined;

  async function syncAll(): Promise<void> {
    try {
      await sync(file);
    } catch (cause) {
      failure = new StoreUnavailable(
        'The disk did not confirm a change. Check the disk, then restart.',
        cause,
      );
      throw failure;
    }
    running = undefined;
  }
  function start(): Promise<void> {
    following = undefined;
    running = syncAll();
    return running;
  }
  function hasAll(): Promise<void> {
    return following ?? running ?? Promise.resolve();
  }
  return {
    /**
     * Call before each change; throws if a sync has failed, or if other files are at the paths now: then a restart would
     * not find the change.
     */
    check() {
      if (failure) throw failure;
      if (opened.every(({ part, id }) => fileId(part) === id)) return;
      const cause = new Error('The store file was moved, removed or replaced.');
      throw new StoreUnavailable('The store file is no longer the one that was opened.', cause);
    },
    /** Call after each commit; resolves once the disk has the commit. */
    changed(): Promise<void> {
      if (following) return following;
      if (!running) return start();
      following = running.then(start);
      return following;
    },
    /** Resolves once the disk has all changes so far. */
    hasAll,
    async close() {
      await hasAll().catch(() => undefined);
      closeSync(file);
    },
  };
}

/** Differs for another file at the path, or none. */
function fileId(path: string): string {
  const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${dev} ${ino}`;
}

type Disk = ReturnType<typeof createDisk>;
type Clock = ReturnType<typeof openClock>;

/**
 * The store's clock, UTC ms. It is the machine's, but never runs backwards: when the machine's is put back, it
 * continues from the last time it returned or stored, and stays ahead by the difference.
 */
function openClock(db: DatabaseSync, now: () => number) {
  const readCounter = db.prepare('select version, seen_at, ahead_ms from counter');
  let lastMs = -Infinity;
  return {
    read(): { nowMs: number; aheadMs: number; isPutBack: boolean; version: number } {
      const counter = readCounter.get();
      const aheadMs = Number(counter?.['ahead_ms']);
      const version = Number(counter?.['version']);
      const machineMs = Math.floor(now());
      const seenMs = Math.max(lastMs, Number(counter?.['seen_at']));
      lastMs = Math.max(seenMs, machineMs + aheadMs);
      const isPutBack = lastMs > machineMs + aheadMs;
      return { nowMs: lastMs, aheadMs: lastMs - machineMs, isPutBack, version };
    },
  };
}

/** Shared by all calls of a transaction: one clock reading (UTC ms), and the version counter, which changes raise. */
type Turn = { readonly now: number; version: number };

type Call = {
  /** Makes the change; returns a function to call after the commit. */
  run: (turn: Turn) => () => void;
  reject: (error: Error) => void;
};

/** How many expired records each call removes: more than a call can add, so that the file stops growing. */
const sweptPerCall = 4;

/**
 * Runs all calls of one turn of the event loop in one transaction, with one wait for the disk, so that a burst of
 * webhooks costs only a few fsyncs. Calls run in the order in which they came, and fail together if the disk fails.
 */
function createGroupCommit(db: DatabaseSync, clock: Clock, disk: Disk) {
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const writeCounter = db.prepare('update counter set version = ?, seen_at = ?, ahead_ms = ?');
  const sweep = db.prepare(
    'delete from entries where id in (select id from entries where expires_at <= ? order by expires_at limit ?)',
  );
  let waiting: Call[] = [];
  let closing: Promise<void> | undefined;

  function transact(batch: readonly Call[]): { answers: (() => void)[]; isChanged: boolean } {
    begin.run();
    const { nowMs, aheadMs, version, isPutBack } = clock.read();
    const turn: Turn = { now: nowMs, version };
    const answers = batch.map((call) => call.run(turn));
    sweep.run(turn.now, batch.length * sweptPerCall);
    const isChanged = turn.version !== version || isPutBack;
    if (isChanged) writeCounter.run(turn.version, nowMs, aheadMs);
    commit.run();
    return { answers, isChanged };
  }

  async function flush(): Promise<void> {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      disk.check();
      const { answers, isChanged } = transact(batch);
      await (isChanged ? disk.changed() : disk.hasAll());
      for (const answer of answers) answer();
    } catch (cause) {
      if (db.isOpen && db.isTransaction) db.exec('rollback');
      const isDisk = cause instanceof StoreUnavailable;
      const error = isDisk ? cause : new StoreUnavailable('The store file did not take the change.', cause);
      for (const call of batch) call.reject(error);
    }
  }

  return {
    /** Resolves once the disk has the commit. Throws StoreUnavailable if the commit failed, or the disk did. */
    run<T>(change: (turn: Turn) => T): Promise<T> {
      return new Promise((resolve, reject) => {
        if (closing) throw new StoreUnavailable('The store is closed.');
        waiting.push({
          run: (turn) => {
            const result = change(turn);
            return () => resolve(result);
          },
          reject,
        });
        if (waiting.length === 1) setImmediate(() => void flush());
      });
    },
    /** Commits pending calls; later calls throw StoreUnavailable. */
    close: () => (closing ??= flush().then(() => disk.close())),
  };
}

const keysAtOnce = 500;

type Row = Record<string, SQLOutputValue>;
type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: DatabaseSync) {
  return {
    read: db.prepare(
      'select key, value, version, lane, attempts from entries where key = ? and (expires_at is null or expires_at > ?)',
    ),
    due: db.prepare(
      `select case when l.lease_until > :now then 'leased' when l.pause_until > :now then 'paused' else 'free' end as state,
         count(*) as records
       from (select lane, due_at from entries where due_at <= :now limit :most) e join lanes l on l.lane = e.lane
       group by state`,
    ),
    // Two queries, so that each uses its partial index.
    oldestDue: db.prepare(
      `select min(head_at) as head_at from (
         select min(head_at) as head_at from lanes where free_at is null and head_at is not null
         union all select min(head_at) from lanes where free_at is not null)`,
    ),
    keys: db.prepare('select key from entries where key > ? order by key limit ?'),
    oldest: db.prepare(pageOf('>', 'asc')),
    newest: db.prepare(pageOf('<', 'desc')),
    leave: db.prepare('delete from members where entry = ?'),
    join: db.prepare('insert into members (list, place, key, entry) values (?, ?, ?, ?)'),
    replace: db.prepare(
      `update entries set value = :value, version = :next
       where key = :key and version = :version and (expires_at is null or expires_at > :now) and not exists
         (select 1 from lanes where lane = entries.lane and lease = entries.lease and lease_until > :now)
       returning id`,
    ),
    forget: db.prepare('delete from entries where key = ? and expires_at <= ?'),
    create: db.prepare(
      `insert into entries (key, value, version, lane, due_at, expires_at) values (?, ?, ?, ?, ?, ?)
       on conflict (key) do nothing`,
    ),
    joinLane: db.prepare(
      `insert into lanes (lane, head_at) values (?, ?)
       on conflict (lane) do update set head_at = excluded.head_at
       where head_at is null or head_at > excluded.head_at`,
    ),
    find: db.prepare(
      `select id, lane, lease from entries
       where key = ? and version = ? and (expires_at is null or expires_at > ?)`,
    ),
    write: db.prepare(
      'update entries set value = ?, version = ?, lane = ?, due_at = ?, expires_at = ?, lease = null where id = ?',
    ),
    lane: db.prepare('select lease, out_count, lease_until, pause_until from lanes where lane = ?'),
    head: db.prepare(
      'select due_at from entries where lane = ? and due_at is not null order by due_at limit 1',
    ),
    dropLane: db.prepare('delete from lanes where lane = ?'),
    hold: db.prepare('update entries set value = ?, version = ? where id = ?'),
    extendLease: db.prepare(
      `update lanes set lease_until = ?1, free_at = max(?1, pause_until)
       where lane = ?2 and lease = ?3 and lease_until > ?4`,
    ),
    saveLane: db.prepare(
      `insert or replace into lanes (lane, head_at, lease, out_count, lease_until, pause_until, free_at)
       values (?, ?, ?, ?, ?, ?, ?)`,
    ),
    dropFreedLanes: db.prepare('delete from lanes where free_at <= ? and head_at is null'),
    freeLanes: db.prepare(
      `update lanes set free_at = null, lease = null, out_count = 0, lease_until = 0, pause_until = 0
       where free_at <= ?`,
    ),
    nextLane: db.prepare(
      'select lane, head_at from lanes where free_at is null and head_at <= ? order by head_at, lane limit 1',
    ),
    dueOf: db.prepare(
      `select id, key, value, version, lane, attempts from entries
       where lane = ? and due_at <= ? order by due_at, id limit ?`,
    ),
    takeOut: db.prepare('update entries set version = ?, attempts = ?, lease = ? where id = ?'),
  };
}

function pageOf(comparison: '<' | '>', order: 'asc' | 'desc'): string {
  return `select e.key, e.value, e.version, e.lane, e.attempts, m.place from members m join entries e on e.id = m.entry
    where m.list = ? and (m.place, m.key) ${comparison} (?, ?) and (e.expires_at is null or e.expires_at > ?)
    order by m.place ${order}, m.key ${order} limit ?`;
}

type Lists = [name: string, place: number][];

type Creation = { key: string; value: string; lane: string; timing: Timing; lists: Lists };

function createRecord(statements: Statements, turn: Turn, creation: Creation): boolean {
  const { key, value, lane, timing } = creation;
  const { dueAt, expiresAt } = timesOf(timing, turn.now);
  statements.forget.run(key, turn.now);
  const version = turn.version + 1;
  const made = statements.create.run(key, value, version, lane, dueAt, expiresAt);
  if (made.changes === 0) return false;
  turn.version = version;
  for (const [list, place] of creation.lists) statements.join.run(list, place, key, made.lastInsertRowid);
  if (dueAt !== null) statements.joinLane.run(lane, dueAt);
  return true;
}

type Change = {
  entry: Entry;
  value: string;
  timing: Timing;
  pauseMs: number;
  lane: string | undefined;
  lists: Lists | undefined;
};

/** Returns the new version; undefined: refused, and nothing changed. */
function writeRecord(statements: Statements, turn: Turn, change: Change): number | undefined {
  const { entry, value, timing, pauseMs } = change;
  const found = statements.find.get(entry.key, entry.version, turn.now);
  if (found === undefined) return undefined;
  const { holdMs } = timing;
  if (holdMs !== undefined) return holdRecord(statements, turn, found, { value, holdMs });
  const { dueAt, expiresAt } = timesOf(timing, turn.now);
  const oldLane = String(found['lane']);
  const { lane = oldLane } = change;
  turn.version += 1;
  const id = found['id'] ?? null;
  statements.write.run(value, turn.version, lane, dueAt, expiresAt, id);
  if (change.lists) putInLists(statements, entry.key, id, change.lists);
  settleLane(statements, turn, { lane: oldLane, returned: found['lease'] ?? null, pauseMs });
  if (lane !== oldLane && dueAt !== null) statements.joinLane.run(lane, dueAt);
  return turn.version;
}

function putInLists(statements: Statements, key: string, id: SQLOutputValue, lists: Lists): void {
  statements.leave.run(id);
  for (const [list, place] of lists) statements.join.run(list, place, key, id);
}

function holdRecord(
  statements: Statements,
  turn: Turn,
  found: Row,
  change: { value: string; holdMs: number },
): number | undefined {
  const { lane = null, lease = null, id = null } = found;
  const held = statements.extendLease.run(turn.now + change.holdMs, lane, lease, turn.now).changes;
  if (Number(held) === 0) return undefined;
  turn.version += 1;
  statements.hold.run(change.value, turn.version, id);
  return turn.version;
}

/**
 * Call after a change to one of the lane's entries. Ends the lane's lease if that was the last leased entry, sets the
 * pause, and finds the lane's oldest work.
 */
function settleLane(
  statements: Statements,
  turn: Turn,
  change: { lane: string; returned: SQLOutputValue; pauseMs: number },
): void {
  const { lane, returned, pauseMs } = change;
  const state = readLane(statements, lane);
  if (returned !== null && returned === state.lease) state.out -= 1;
  const leaseUntil = state.out > 0 ? state.leaseUntil : 0;
  const lease = state.out > 0 ? state.lease : null;
  const pauseUntil = Math.max(state.pauseUntil, turn.now + pauseMs);
  const freeAt = Math.max(leaseUntil, pauseUntil);
  const headAt = statements.head.get(lane)?.['due_at'] ?? null;
  if (freeAt > turn.now) {
    statements.saveLane.run(lane, headAt, lease, state.out, leaseUntil, pauseUntil, freeAt);
  } else if (headAt !== null) {
    statements.saveLane.run(lane, headAt, null, 0, 0, 0, null);
  } else {
    statements.dropLane.run(lane);
  }
}

/** `out`: how many entries taken with the lease are not written yet. */
type LaneState = { lease: SQLOutputValue; out: number; leaseUntil: number; pauseUntil: number };

function readLane(statements: Statements, lane: string): LaneState {
  const row = statements.lane.get(lane);
  if (row === undefined) return { lease: null, out: 0, leaseUntil: 0, pauseUntil: 0 };
  return {
    lease: row['lease'] ?? null,
    out: Number(row['out_count']),
    leaseUntil: Number(row['lease_until']),
    pauseUntil: Number(row['pause_until']),
  };
}

type Request = { leaseMs: number; max: number; lanes: string };

function takeLane(statements: Statements, turn: Turn, request: Request): Entry[] {
  statements.dropFreedLanes.run(turn.now);
  statements.freeLanes.run(turn.now);
  const next = statements.nextLane.get(turn.now);
  if (next === undefined) return [];
  const lane = String(next['lane']);
  const lease = turn.version + 1;
  const most = lane.startsWith(request.lanes) ? request.max : 1;
  const taken = statements.dueOf.all(lane, turn.now, most).map((row): Entry => {
    turn.version += 1;
    const entry = { ...toEntry(row), version: turn.version, attempts: Number(row['attempts']) + 1 };
    statements.takeOut.run(entry.version, entry.attempts, lease, row['id'] ?? null);
    return entry;
  });
  const until = turn.now + request.leaseMs;
  statements.saveLane.run(lane, next['head_at'] ?? null, lease, taken.length, until, 0, until);
  return taken;
}

function timesOf({ delayMs, ttlMs }: Timing, now: number) {
  return {
    dueAt: delayMs === undefined ? null : now + delayMs,
    expiresAt: ttlMs === undefined ? null : now + ttlMs,
  };
}

export function toEntry(row: Row): Entry {
  return {
    key: String(row['key']),
    value: String(row['value']),
    version: Number(row['version']),
    lane: String(row['lane']),
    attempts: Number(row['attempts']),
  };
}
