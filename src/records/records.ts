import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { growingDelayMs } from '../deadline.ts';
import {
  SealBroken,
  type Sealer,
  type CreateOptions,
  type Entry,
  type Index,
  type Store,
} from '../store/store.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { allEntries } from './pages.ts';
import { NewerRelease, notNewer } from './newer-release.ts';

/** A kind of record: the prefix of its keys, its schema, and the lists to which a value belongs. */
export type RecordKind<T> = {
  prefix: string;
  schema: z.ZodType<T>;
  lists?: (value: T) => Index | Promise<Index>;
};

export type ListedKind<T> = RecordKind<T> & Required<Pick<RecordKind<T>, 'lists'>>;

/** Due as work after `delayMs`, or finished and stored for `ttlMs`. */
export type Schedule = { delayMs: number } | { ttlMs: number };

/** Whether the text is formed like a fingerprint or random id. Check ids from Slack before they go into a key. */
export function isHexId(text: string): boolean {
  return /^[\da-f]{32}$/.test(text);
}

export type RecordChange<T, Result> =
  | { kind: 'keep'; result: Result }
  | { kind: 'write'; value: T; schedule?: Schedule; result: Result };

type Decide<T, Result> = (
  before: T | undefined,
) => RecordChange<T, Result> | Promise<RecordChange<T, Result>>;

/** The record that a worker took; updated after each change. */
export type Taken = { entry: Entry | undefined };

export type Records<T> = {
  keyOf(id: string): string;
  idOf(entry: Pick<Entry, 'key'>): string;
  /**
   * Opens and parses a record. Throws SealBroken, SyntaxError or ZodError if it is unreadable, NewerRelease if only a
   * newer replica can read it.
   */
  open(entry: Pick<Entry, 'key' | 'value'>): T;
  read(id: string): Promise<T | undefined>;
  /** False: it exists. */
  create(id: string, value: T, options: CreateOptions): Promise<boolean>;
  /** Compare-and-swap on `entry`; returns the new entry, or undefined after a write conflict. */
  write(entry: Entry, value: T, schedule: Schedule): Promise<Entry | undefined>;
  /**
   * Reads the record and makes the change that `decide` returns; after a conflict calls `decide` again with the new
   * value. If the store's answer is lost, reads the record again to find out whether the change was made, and throws
   * StoreUnavailable only if it can't. With `taken` the first read is spared.
   */
  change<Result>(id: string, decide: Decide<T, Result>, taken?: Taken): Promise<Result>;
  /** A list's records in its order. Leaves out unreadable ones. */
  list(name: string, options: { max: number; newestFirst?: boolean }): Promise<T[]>;
  all(name: string): Promise<T[]>;
};

/** Fails after so many conflicts, instead of making a person wait for ever. */
const mostConflicts = 100;
/** The random pause after a conflict: up to this long at first, then growing. */
const conflictPauseMs = 1;
const longestConflictPauseMs = 30;
/** How often a lost answer is retried, and the wait before each retry. */
const lostAnswerRetries = 2;
const lostAnswerPauseMs = 100;

/**
 * Records of one kind. Each is sealed for its own key and parsed by the kind's schema. Every method throws
 * StoreUnavailable.
 */
export function createRecords<T>(
  account: {
    store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
    sealer: Sealer;
    wait: (ms: number) => Promise<unknown>;
  },
  kind: RecordKind<T>,
): Records<T> {
  const { store, sealer, wait } = account;
  const { prefix, lists } = kind;
  const takeTurn = createTurns();
  const keyOf = (id: string): string => prefix + id;

  const open = (entry: Pick<Entry, 'key' | 'value'>): T => openRecord(sealer, kind, entry);

  function sealed(key: string, value: T): string {
    return sealer.seal(key, JSON.stringify(value));
  }

  async function listed(value: T): Promise<{ index?: Index }> {
    return lists ? { index: await lists(value) } : {};
  }

  function readable(entries: readonly Entry[]): T[] {
    return entries.flatMap((entry) => {
      try {
        return [open(entry)];
      } catch (error) {
        // Skip it: a worker puts it aside and notifies the operators, or leaves it to a newer replica.
        if (isUnreadable(error) || error instanceof NewerRelease) return [];
        throw error;
      }
    });
  }

  async function swap<Result>(
    key: string,
    decide: Decide<T, Result>,
    taken: Taken = { entry: undefined },
  ): Promise<Result> {
    let sent: { text: string; result: Result } | undefined;
    let lost = 0;
    let { entry } = taken;
    for (let conflicts = 0; conflicts < mostConflicts; conflicts += 1) {
      try {
        entry ??= await store.read(key);
        taken.entry = entry;
        // Sealing never gives the same text twice, so if this text is in the store, our write was carried out.
        if (lost > 0 && sent && entry?.value === sent.text) return sent.result;
        const change = await decide(entry && open(entry));
        if (change.kind === 'keep') return change.result;
        const { value, schedule, result } = change;
        const options = { ...schedule, ...(await listed(value)) };
        const text = sealed(key, value);
        sent = { text, result };
        if (!entry && (await store.create(key, text, options))) return result;
        entry = entry && (await store.write(entry, text, options));
        taken.entry = entry;
        if (entry) return result;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || !sent || lost >= lostAnswerRetries) throw error;
        lost += 1;
        entry = undefined;
        await wait(lostAnswerPauseMs);
        continue;
      }
      await sleep(randomInt(1 + growingDelayMs(conflictPauseMs, conflicts, longestConflictPauseMs)));
    }
    throw new StoreUnavailable('A record is changed by others all the time.');
  }

  return {
    keyOf,
    idOf: ({ key }) => key.slice(prefix.length),
    open,
    async read(id) {
      const entry = await store.read(keyOf(id));
      return entry && open(entry);
    },
    async create(id, value, options) {
      const key = keyOf(id);
      return await store.create(key, sealed(key, value), { ...options, ...(await listed(value)) });
    },
    async write(entry, value, schedule) {
      return await store.write(entry, sealed(entry.key, value), { ...schedule, ...(await listed(value)) });
    },
    change: (id, decide, taken) => takeTurn(id, () => swap(keyOf(id), decide, taken)),
    async list(name, options) {
      return readable((await store.list(name, options)).entries);
    },
    all: async (name) => readable(await allEntries(store, name)),
  };
}

/**
 * Runs the changes of one id one after the other, so that write conflicts come only from other replicas. If the store
 * is away, all changes that are queued behind the failed one fail at once with its error, instead of each waiting in
 * turn.
 */
function createTurns(): <Result>(id: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return async function takeTurn(id, work) {
    const turn = (last.get(id) ?? Promise.resolve()).then(work, (error: unknown) => {
      if (error instanceof StoreUnavailable) throw error;
      return work();
    });
    last.set(id, turn);
    try {
      return await turn;
    } finally {
      if (last.get(id) === turn) last.delete(id);
    }
  };
}

/** Opens a record of a list with several kinds. Throws what `Records.open` does. */
export function openRecord<T>(
  sealer: Sealer,
  { schema }: RecordKind<T>,
  { key, value }: Pick<Entry, 'key' | 'value'>,
): T {
  return schema.parse(JSON.parse(sealer.open(key, notNewer(value))));
}

/**
 * For a change of form in `store/store-steps.ts`: puts this kind's existing records into the lists that the kind has now.
 */
export function relisted<T>(sealer: Sealer, kind: ListedKind<T>) {
  return {
    prefix: kind.prefix,
    async change(entry: Entry): Promise<{ index: Index } | 'unread'> {
      try {
        return { index: await kind.lists(openRecord(sealer, kind, entry)) };
      } catch (error) {
        if (isUnreadable(error) || error instanceof NewerRelease) return 'unread';
        throw error;
      }
    },
  };
}

/** Whether the record can't be opened or parsed. False for NewerRelease: a newer replica can read it. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof SealBroken || error instanceof SyntaxError || error instanceof z.ZodError;
}

/** Undefined: the record can't be read; the worker puts it aside. */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return undefinedIfUnreadable(error);
  }
}

/** For `catch`: rethrows every error except that of an unreadable record. */
export function undefinedIfUnreadable(error: unknown): undefined {
  if (!isUnreadable(error)) throw error;
}
