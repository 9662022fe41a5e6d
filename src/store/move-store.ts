import { createHash } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { lockStoreFile, markMoved } from './sqlite-file.ts';
import {
  dropScript,
  laneScript,
  namesScript,
  placeScript,
  releaseScript,
  reserveScript,
  seenScript,
  type Script,
} from './redis-scripts.ts';
import type { ScriptRunner } from './redis-store.ts';

export type Moved = {
  records: number;
  /** So many of them wait for something. */
  work: number;
  /** Memberships of lists. */
  places: number;
  /** SHA-256 of all that was written, and of all that Redis gave back. */
  digest: string;
};

export type MoveEnd =
  | ({ kind: 'moved' } & Moved)
  /** Another process has the file open. */
  | { kind: 'in_use' }
  /** There are records under this prefix already. */
  | { kind: 'not_empty' }
  /** What Redis holds is not what was written: it stays reserved, and no bot starts on it. */
  | { kind: 'differs'; written: Moved; found: Moved };

type Move = {
  /** The store's file, of whose bots none runs. */
  path: string;
  /** The clock of that file, UTC ms. */
  now: () => number;
  redis: Pick<ScriptRunner, 'eval'>;
  prefix: string;
  /** What a record's value becomes on the way. */
  change: (key: string, value: string) => string;
};

const recordsAtOnce = 100;
const namesAtOnce = 500;
/** Redis tells what is left of a time, in its own milliseconds. */
const roundedMs = 1_000;

/**
 * Copies every record of a store's file into an empty Redis, with its lists, its lane, its due time or expiry and what its
 * lane waits for; reads all of it back; and only then lets bots start there, and none on the file. Broken off it leaves
 * the file as it was and Redis reserved: run again it begins anew. Throws StoreUnavailable and Redis's own errors.
 */
export async function moveStore({ path, now, redis, prefix, change }: Move): Promise<MoveEnd> {
  const db = lockStoreFile(path);
  if (db === undefined) return { kind: 'in_use' };
  try {
    const target = openTarget(redis, prefix);
    const version = String(db.prepare('select version from counter').get()?.['version']);
    const hasRecords = (await target.names(':record:')).length > 0 ? '1' : '';
    const sourceMs = Math.floor(now());
    const times = { sourceMs, targetUs: Number(await target.run(reserveScript, version, hasRecords)) };
    if (times.targetUs === 0) return { kind: 'not_empty' };
    const left = await target.names(':');
    for (let at = 0; at < left.length; at += namesAtOnce)
      // oxlint-disable-next-line no-await-in-loop -- Redis runs one at a time
      await target.run(dropScript, ...left.slice(at, at + namesAtOnce));
    const written = await copyRecords(db, target, times, change);
    await copyLanes(db, target, times);
    const found = await readBack(db, target, times);
    const isSame = Object.entries(written).every(([name, value]) => found[name as keyof Moved] === value);
    if (!isSame) return { kind: 'differs', written, found };
    // Between the two neither is started on.
    markMoved(db);
    await target.run(releaseScript);
    return { kind: 'moved', ...written };
  } finally {
    db.close();
  }
}

type Target = {
  run: (script: Script, ...args: string[]) => Promise<unknown>;
  /** Of the keys that begin so, each once. */
  names: (begins: string) => Promise<string[]>;
};

function openTarget(redis: Move['redis'], prefix: string): Target {
  const run: Target['run'] = (script, ...args) =>
    redis.eval(script.text, { keys: [`{${prefix}}`], arguments: args });
  return {
    run,
    async names(begins) {
      const found = new Set<string>();
      let cursor = '0';
      do {
        // oxlint-disable-next-line no-await-in-loop -- each page says where the next begins
        const [next, names] = (await run(namesScript, cursor, begins)) as [string, string[]];
        for (const name of names) found.add(name);
        cursor = next;
      } while (cursor !== '0');
      return [...found];
    },
  };
}

/** The same moment by both clocks: what is due or ends keeps its distance from it. */
type Times = { sourceMs: number; targetUs: number };

function usAt({ sourceMs, targetUs }: Times, ms: number): number {
  return targetUs + (ms - sourceMs) * 1_000;
}

/** A record as Redis is to hold it: every time in microseconds of its clock, the lists by name. */
type Placed = {
  key: string;
  value: string;
  version: number;
  lane: string;
  attempts: number;
  lease: string;
  dueUs: number | undefined;
  endsMs: number | undefined;
  lists: [name: string, place: number][];
};

type Tally = { add: (record: Placed) => void; total: () => Moved };

function createTally(): Tally {
  const hash = createHash('sha256');
  const counts = { records: 0, work: 0, places: 0 };
  return {
    add({ key, value, version, lane, attempts, lease, dueUs, endsMs, lists }) {
      counts.records += 1;
      counts.work += dueUs === undefined ? 0 : 1;
      counts.places += lists.length;
      const sorted = lists.toSorted(([one], [other]) => (one < other ? -1 : 1));
      hash.update(JSON.stringify([key, value, version, lane, attempts, lease, dueUs, endsMs, sorted]));
    },
    total: () => ({ ...counts, digest: hash.copy().digest('hex') }),
  };
}

async function copyRecords(db: DatabaseSync, target: Target, times: Times, change: Move['change']) {
  const tally = createTally();
  /* oxlint-disable no-await-in-loop -- one page after the other, in the order of their keys */
  for (const page of pagesOf(db, times)) {
    const records = page.map((record) => ({ ...record, value: change(record.key, record.value) }));
    await target.run(placeScript, ...records.flatMap(argumentsOf));
    for (const record of records) tally.add(record);
  }
  /* oxlint-enable no-await-in-loop */
  return tally.total();
}

function argumentsOf({ key, value, version, lane, attempts, lease, dueUs, endsMs, lists }: Placed): string[] {
  const index = lists.length === 0 ? '' : JSON.stringify(lists.flat().map(String));
  const times = [dueUs, endsMs].map((time) => (time === undefined ? '' : String(time)));
  return [key, value, String(version), lane, String(attempts), lease, ...times, index];
}

/**
 * What is due in one millisecond keeps its order by the microsecond; past a thousand the keys decide. What has expired
 * is left out.
 */
function* pagesOf(db: DatabaseSync, times: Times): Generator<Placed[]> {
  const entries = db.prepare(
    `select e.*, case when due_at is null then 0 else (select count(*) from
       (select 1 from entries o where o.lane = e.lane and o.due_at = e.due_at and o.id < e.id limit 999)) end as behind
     from entries e where key > ? and (expires_at is null or expires_at > ?) order by key limit ?`,
  );
  const members = db.prepare('select list, place from members where entry = ?');
  let after = '';
  for (;;) {
    const rows = entries.all(after, times.sourceMs, recordsAtOnce);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = String(last['key']);
    yield rows.map((row) => toPlaced(row, members.all(row['id'] ?? null), times));
  }
}

type Row = Record<string, SQLOutputValue>;

function toPlaced(row: Row, members: readonly Row[], times: Times): Placed {
  const dueAt = row['due_at'] ?? undefined;
  const expiresAt = row['expires_at'] ?? undefined;
  return {
    key: String(row['key']),
    value: String(row['value']),
    version: Number(row['version']),
    lane: String(row['lane']),
    attempts: Number(row['attempts']),
    lease: row['lease'] === null ? '' : String(row['lease']),
    dueUs: dueAt === undefined ? undefined : usAt(times, Number(dueAt)) + Number(row['behind']),
    endsMs: expiresAt === undefined ? undefined : Math.ceil(usAt(times, Number(expiresAt)) / 1_000),
    lists: members.map(({ list, place }) => [String(list), Number(place)]),
  };
}

/** What each lane waits for, or that it is free: after its work is there. */
async function copyLanes(db: DatabaseSync, target: Target, times: Times): Promise<void> {
  const lanes = db
    .prepare('select * from lanes')
    .all()
    .map((row) => {
      const blocked = [row['lease_until'], row['pause_until']].map((until) =>
        Number(until) > times.sourceMs ? String(usAt(times, Number(until))) : '',
      );
      return [String(row['lane']), String(row['lease'] ?? ''), String(row['out_count']), ...blocked];
    });
  for (let at = 0; at < lanes.length; at += namesAtOnce) {
    // oxlint-disable-next-line no-await-in-loop -- Redis runs one at a time
    await target.run(laneScript, ...lanes.slice(at, at + namesAtOnce).flat());
  }
}

/** The same sums of what Redis gives: of every record that the file has, and of nothing that it has not. */
async function readBack(db: DatabaseSync, target: Target, times: Times): Promise<Moved> {
  const tally = createTally();
  /* oxlint-disable no-await-in-loop -- in the order in which they were written */
  for (const page of pagesOf(db, times)) {
    const seen = (await target.run(seenScript, ...page.map(({ key }) => key))) as (string | null)[][];
    for (const [at, { key, endsMs }] of page.entries()) {
      const [value, version, lane, attempts, lease, due, ends, ...lists] = seen[at] ?? [];
      if (value === undefined || value === null) continue;
      const isNear = endsMs !== undefined && ends !== '' && Math.abs(Number(ends) - endsMs) <= roundedMs;
      tally.add({
        key,
        value,
        version: Number(version),
        lane: String(lane),
        attempts: Number(attempts),
        lease: String(lease),
        dueUs: due === '' ? undefined : Number(due),
        endsMs: isNear ? endsMs : ends === '' ? undefined : Number(ends),
        lists: Array.from({ length: lists.length / 2 }, (_, one) => [
          String(lists[2 * one]),
          Number(lists[2 * one + 1]),
        ]),
      });
    }
  }
  /* oxlint-enable no-await-in-loop */
  const records = (await target.names(':record:')).length;
  return { ...tally.total(), records };
}
