/**
 * One record. `version`, which compare-and-swap compares, rises with every change and every lease; if a key is removed
 * and created again, its version is higher than before. `lane`: a queue whose records are worked on by one worker at a
 * time; defaults to the record's key, so a queue of its own. `attempts`: how often the record was taken as work.
 */
export type Entry = {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly lane: string;
  readonly attempts: number;
};

/**
 * The lists that a record is in, by name, with its place in each: a whole number, usually UTC ms. Records with the same
 * place are ordered by key, byte by byte. Names are stored unencrypted, so they must not contain secrets.
 */
export type Index = Readonly<Record<string, number>>;

/**
 * With `delayMs` the record is work: due after that time, and it never expires. Without, it is memory: kept for
 * `ttlMs`, or for ever.
 */
export type CreateOptions = ({ delayMs: number; lane?: string } | { ttlMs?: number }) & { index?: Index };

/**
 * With `delayMs` the record stays work, due after that time (`ttlMs` is ignored). Without, it is finished, and kept for
 * `ttlMs` or for ever. `pauseMs` keeps the whole lane from being taken; a shorter pause never shortens a longer one.
 * The lane's lease ends once every entry that was taken with it has been written.
 */
export type WriteOptions = {
  delayMs?: number;
  ttlMs?: number;
  pauseMs?: number;
  /** Moves the record to this lane; absent: it stays. Pause and lease are those of the lane that it leaves. */
  lane?: string;
  /** Replaces all the record's lists in the same atomic step; absent: they stay. */
  index?: Index;
  /**
   * Extends the lane's lease to this long from now. All other options are then ignored. Fails if the lease has ended.
   */
  holdMs?: number;
};

export type ListOptions = {
  /** `next` of the previous page. */
  after?: string;
  /** The place at which the first page starts, inclusive; absent: the list's end. */
  from?: number;
  /** From 1 to 1000. */
  max: number;
  /** Highest place first; absent: lowest first. */
  newestFirst?: boolean;
};

/** `next` is absent on the last page. It stays valid if its record changes or is removed. */
export type Listed = { entries: readonly Entry[]; next?: string };

/**
 * `oldestDueMs`: how long the oldest due record has been due (0: nothing is due). `due`: how many records are due, by
 * the state of their lane; above `mostDue` it is not exact.
 */
type Backlog = { oldestDueMs: number; due: Readonly<Record<'free' | 'leased' | 'paused', number>> };

export const mostDue = 10_000;

/**
 * One store for everything: memory of what was done, work that is due, timers and locks. Every method is atomic and
 * uses the store's own clock: only durations are passed, so differences between replicas' clocks don't matter. If the
 * store's clock is put back, the store continues from the time that it had. Throws StoreUnavailable if the store
 * doesn't answer in time; such a call may have been carried out. Throws RangeError, before anything happens, for a
 * duration that is negative, not a number, or above a hundred years. A lease, hold or pause lasts an hour at most.
 */
export type Store = {
  /** Creates a record. False: the key exists, and nothing was changed. Of several callers only one ever gets true. */
  create(key: string, value: string, options?: CreateOptions): Promise<boolean>;
  /** Undefined: the record was never created, or has expired. */
  read(key: string): Promise<Entry | undefined>;
  /**
   * Compare-and-swap on `entry.version`; returns the new entry. Undefined: the record was changed meanwhile, is gone,
   * or (with `holdMs`) its lease has ended. Then don't do what this write was to record.
   */
  write(entry: Entry, value: string, options?: WriteOptions): Promise<Entry | undefined>;
  /**
   * Leases the free lane whose oldest entry has been due longest, and returns up to `max` (default 1) of its due
   * entries, oldest first; none if no free lane has due work. From a lane whose name doesn't begin with `lanes`
   * (default: any) it returns one entry. Until the lease ends or all these entries are written, no entry of that lane
   * is given to anyone else. Raises version and attempts of each entry. Entries of a worker that died keep their place,
   * and are due again when the lease ends.
   */
  take(leaseMs: number, max?: number, lanes?: string): Promise<Entry[]>;
  /**
   * Changes a record's value and, with `index`, its lists; due time, expiry and lane stay. False: it was changed
   * meanwhile, is gone, or is leased to a worker.
   */
  replace(entry: Entry, value: string, index?: Index): Promise<boolean>;
  /**
   * Up to `max` unexpired records of the list, in its order. Takes the same time for a list of any length. Throws
   * RangeError for an invalid `max` or `after`.
   */
  list(name: string, options: ListOptions): Promise<Listed>;
  /**
   * A page of keys, starting with ''; pass `next` for the following page. A record that exists all the time is returned
   * at least once.
   */
  keysAfter(after: string): Promise<{ keys: readonly string[]; next: string | undefined }>;
  /** What is due now, for monitoring. Takes longer the more is due, up to `mostDue`. */
  backlog(): Promise<Backlog>;
  /** Throws StoreUnavailable unless the store takes writes. */
  ping(): Promise<void>;
  /** Waits for calls under way; later calls throw StoreUnavailable. May be called twice. */
  close(): Promise<void>;
};

/** A sealed text can't be opened. The message says why, without the content. */
export class SealBroken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SealBroken';
  }
}

/** Seals texts that may name a customer, a transaction or a card. */
export type Sealer = {
  /** Seals the text for its context (its store key). Never returns the same text twice. */
  seal(context: string, plain: string): string;
  /** Throws SealBroken if the text was changed, was moved to another context, or its key is not configured. */
  open(context: string, sealed: string): string;
};
