import { StoreUnavailable } from '../../src/domain/failure.ts';
import {
  blockMs,
  checkTake,
  readTiming,
  readIndex,
  readList,
  toListed,
} from '../../src/store/store-options.ts';
import type { CreateOptions, Entry, Index, Store, WriteOptions } from '../../src/store/store.ts';

type Model = Entry & { order: number; dueAt?: number; expiresAt?: number; lease?: number; index: Index };
type Lane = { lease: number; leaseUntil: number; pauseUntil: number };

/** The docstrings of `Store` as the simplest possible program, with which both adapters are compared. */
export function openModelStore(
  clock: () => number,
): Store & { keys(): string[]; nextDueMs(): number | undefined } {
  const entries = new Map<string, Model>();
  const lanes = new Map<string, Lane>();
  let version = 0;
  let isClosed = false;

  let lastMs = -Infinity;
  let aheadMs = 0;
  function now(): number {
    if (isClosed) throw new StoreUnavailable('The store is closed.');
    // Never runs backwards, as in the adapters.
    aheadMs = Math.max(aheadMs, lastMs - clock());
    lastMs = clock() + aheadMs;
    return lastMs;
  }

  const laneOf = (name: string): Lane => lanes.get(name) ?? { lease: 0, leaseUntil: 0, pauseUntil: 0 };
  const isFree = (name: string): boolean =>
    laneOf(name).leaseUntil <= now() && laneOf(name).pauseUntil <= now();

  function find(key: string): Model | undefined {
    const found = entries.get(key);
    if (now() >= (found?.expiresAt ?? Infinity)) entries.delete(key);
    return entries.get(key);
  }
  function fate(options: WriteOptions): Pick<Model, 'dueAt' | 'expiresAt'> {
    const { delayMs, ttlMs } = readTiming(options);
    return {
      ...(delayMs !== undefined && { dueAt: now() + delayMs }),
      ...(ttlMs !== undefined && { expiresAt: now() + ttlMs }),
    };
  }
  function byDue(a: Model, b: Model): number {
    return (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.order - b.order;
  }

  return {
    keys: () => [...entries.keys()].filter((key) => find(key) !== undefined),
    /** When `take` gives the next record, if nothing else happens. */
    nextDueMs() {
      const times = [...entries.values()].flatMap(({ dueAt, lane }) =>
        dueAt === undefined ? [] : [Math.max(dueAt, laneOf(lane).leaseUntil, laneOf(lane).pauseUntil)],
      );
      return times.length === 0 ? undefined : Math.min(...times);
    },
    async create(key, value, options: CreateOptions = {}) {
      const times = fate(options);
      if (find(key) !== undefined) return false;
      const lane = 'lane' in options ? (options.lane ?? key) : key;
      const { index = {} } = options;
      readIndex(index);
      version += 1;
      const born = { key, value, version, lane, attempts: 0, order: version, index };
      entries.set(key, { ...born, ...times });
      return true;
    },
    async read(key) {
      const found = find(key);
      return found && plain(found);
    },
    async write(entry, value, options = {}) {
      const times = fate(options);
      const pauseMs = blockMs('pauseMs', options.pauseMs ?? 0);
      const found = find(entry.key);
      if (found?.version !== entry.version) return undefined;
      const { key, lane, attempts, order, lease } = found;
      const state = laneOf(lane);
      if (options.holdMs !== undefined) {
        if (lease === undefined || lease !== state.lease || state.leaseUntil <= now()) return undefined;
        lanes.set(lane, { ...state, leaseUntil: now() + blockMs('holdMs', options.holdMs) });
        version += 1;
        return plain(Object.assign(found, { value, version }));
      }
      const { index = found.index } = options;
      readIndex(index);
      version += 1;
      const same = { key, value, version, lane: options.lane ?? lane, attempts, order, index };
      const next = { ...same, ...times };
      entries.set(key, next);
      const { leaseUntil, pauseUntil } = state;
      const isLast =
        lease === state.lease &&
        ![...entries.values()].some((each) => each.lane === lane && each.lease === lease);
      lanes.set(lane, {
        ...state,
        leaseUntil: isLast ? 0 : leaseUntil,
        pauseUntil: Math.max(pauseUntil, now() + pauseMs),
      });
      return plain(next);
    },
    async take(leaseMs, max = 1, named = '') {
      checkTake(leaseMs, max);
      const at = now();
      const due = [...entries.values()].filter(({ dueAt }) => dueAt !== undefined && dueAt <= at);
      const [first] = due
        .filter((entry) => isFree(entry.lane))
        .toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.lane < b.lane ? -1 : 1));
      if (first === undefined) return [];
      const lease = version + 1;
      const batch = due.filter((entry) => entry.lane === first.lane).toSorted(byDue);
      const most = first.lane.startsWith(named) ? max : 1;
      const taken = batch.slice(0, most).map((entry) => {
        version += 1;
        return Object.assign(entry, { version, attempts: entry.attempts + 1, lease });
      });
      lanes.set(first.lane, { lease, leaseUntil: now() + blockMs('leaseMs', leaseMs), pauseUntil: 0 });
      return taken.map(plain);
    },
    async replace(entry, value, index) {
      if (index) readIndex(index);
      const found = find(entry.key);
      if (found?.version !== entry.version) return false;
      const { lease, leaseUntil } = laneOf(found.lane);
      if (found.lease !== undefined && found.lease === lease && leaseUntil > now()) return false;
      version += 1;
      Object.assign(found, { value, version, ...(index && { index }) });
      return true;
    },
    async list(name, options) {
      now();
      const { start: cursor, newestFirst } = readList(options);
      const sign = newestFirst ? -1 : 1;
      const listed = [...entries.keys()].flatMap((key) => {
        const found = find(key);
        const place = found && Object.hasOwn(found.index, name) ? found.index[name] : undefined;
        return found === undefined || place === undefined ? [] : [{ ...plain(found), place }];
      });
      const page = listed
        .filter((one) => inOrder(one, cursor) * sign > 0)
        .toSorted((one, other) => inOrder(one, other) * sign);
      return toListed(page, options.max);
    },
    async keysAfter() {
      now();
      return { keys: [...entries.keys()], next: undefined };
    },
    async backlog() {
      const found = [...entries.values()].filter(
        (entry) => entry.dueAt !== undefined && entry.dueAt <= now(),
      );
      const due = { free: 0, leased: 0, paused: 0 };
      for (const { lane } of found) {
        const { leaseUntil, pauseUntil } = laneOf(lane);
        due[leaseUntil > now() ? 'leased' : pauseUntil > now() ? 'paused' : 'free'] += 1;
      }
      return { oldestDueMs: now() - Math.min(now(), ...found.map(({ dueAt = 0 }) => dueAt)), due };
    },
    async ping() {
      now();
    },
    async close() {
      isClosed = true;
    },
  };
}

type Placed = { place: number; key: string };

function inOrder(one: Placed, other: Placed): number {
  return one.place - other.place || Buffer.compare(Buffer.from(one.key), Buffer.from(other.key));
}

function plain({ key, value, version, lane, attempts }: Model): Entry {
  return { key, value, version, lane, attempts };
}
