/**
 * One record. `version` rises with every change, a lease included, and is what compare-and-swap compares; a key that is
 * created again never repeats a version. `lane` defaults to the record's key. `attempts`: how often it was taken as work.
 */
export type Entry = {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly lane: string;
  readonly attempts: number;
};

/**
 * The lists a record is in, by name, and its place in each: a whole number, usually UTC ms. Equal places are ordered by
 * key, by bytes. Names are stored in the clear: no secrets.
 */
export type Index = Readonly<Record<string, number>>;

/** With `delayMs` the record is work: due after that long, never expiring. Without, memory: kept for `ttlMs`, or for ever. */
export type CreateOptions = ({ delayMs: number; lane?: string } | { ttlMs?: number }) & { index?: Index };

/**
 * With `delayMs` the record stays work, due after that long (`ttlMs` is ignored); without, it is finished and kept for
 * `ttlMs`, or for ever. `pauseMs` keeps the whole lane from being taken; a shorter pause never cuts a longer one. The
 * lane's lease ends when every entry taken with it was written.
 */
export type WriteOptions = {
  delayMs?: number;
  ttlMs?: number;
  pauseMs?: number;
  /** Its new lane; absent: unchanged. A pause and a lease belong to the lane it leaves. */
  lane?: string;
  /** Replaces all its lists, in the same atomic step. Absent: unchanged. */
  index?: Index;
  /** Extends the lane's lease to this long from now; every other option is ignored. Fails if the lease has ended. */
  holdMs?: number;
};

export type ListOptions = {
  /** `next` of the page before. */
  after?: string;
  /** The first page's first place, inclusive; absent: the list's end. */
  from?: number;
  /** From 1 to 1000. */
  max: number;
  /** Highest place first; absent: lowest first. */
  newestFirst?: boolean;
};

/** `next` is absent on the last page, and stays valid when its record changes or goes. */
export type Listed = { entries: readonly Entry[]; next?: string };

/** Age of the oldest due record (0: nothing is due), and how many are due by their lane's state, up to `mostDue`. */
type Backlog = { oldestDueMs: number; due: Readonly<Record<'free' | 'leased' | 'paused', number>> };

export const mostDue = 10_000;

/**
 * Dedupe memory, outbox, timer and lock in one. Every method is atomic and goes by the store's own clock: only durations
 * cross this port, so replicas' clocks don't matter. Throws `StoreUnavailable` when the store doesn't answer in time; such a
 * call may have been carried out. Throws RangeError, before anything happens, for a duration that is negative, no number or
 * above a hundred years. A lease, hold or pause lasts an hour at most. If the clock is put back, the store goes on from the
 * time it had.
 */
export type Store = {
  /** False: the key exists, and nothing changed. Two callers never both get true. */
  create(key: string, value: string, options?: CreateOptions): Promise<boolean>;
  /** Undefined: never created, or expired. */
  read(key: string): Promise<Entry | undefined>;
  /**
   * Compare-and-swap on `entry.version`; returns the new entry. Undefined: it was changed meanwhile, is gone, or (with
   * `holdMs`) its lease has ended. Drop your effect then.
   */
  write(entry: Entry, value: string, options?: WriteOptions): Promise<Entry | undefined>;
  /**
   * Leases the free lane whose oldest entry has been due longest; returns up to `max` (default 1) of its due entries, oldest
   * first, or none if no free lane has due work. From a lane whose name doesn't begin with `lanes` (default: any) it
   * returns one. Until the lease ends or all of them are written, nobody else gets anything of that lane. Raises each entry's
   * version and attempts. What a dead worker left keeps its place, and is due when the lease ends.
   */
  take(leaseMs: number, max?: number, lanes?: string): Promise<Entry[]>;
  /**
   * Changes the value, and with `index` the lists, of a record; due time, expiry and lane stay. False: it was changed
   * meanwhile, is gone, or a worker has it.
   */
  replace(entry: Entry, value: string, index?: Index): Promise<boolean>;
  /**
   * Up to `max` unexpired records of the list, in its order. Costs the same however long the list is. Throws RangeError for
   * an invalid `max` or `after`.
   */
  list(name: string, options: ListOptions): Promise<Listed>;
  /** A page of keys, from '' on; `next` asks for the following one. A record that exists throughout is returned at least once. */
  keysAfter(after: string): Promise<{ keys: readonly string[]; next: string | undefined }>;
  /** What is due now, for monitoring: costs more the more there is, up to `mostDue`. */
  backlog(): Promise<Backlog>;
  /** Throws StoreUnavailable unless the store takes writes. */
  ping(): Promise<void>;
  /** Waits for calls under way; later ones throw StoreUnavailable. May be called twice. */
  close(): Promise<void>;
};

/** The sealed text can't be opened. The message says why, without its content. */
export class SealBroken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SealBroken';
  }
}

/** Seals what may name a customer, a transaction or a card. */
export type Sealer = {
  /** Binds the text to its context (its store key). Never returns the same twice. */
  seal(context: string, plain: string): string;
  /** Throws SealBroken if it was changed, moved to another context, or its key isn't here. */
  open(context: string, sealed: string): string;
};
