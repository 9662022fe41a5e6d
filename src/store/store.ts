/**
 * One record of the store. `version` rises with every change, lease included, and is what a
 * compare-and-swap compares; a key that is created anew never gets an old version again. `lane` is the
 * record's own key when it was created without one. `attempts` counts how often it was taken as work.
 */
export type Entry = {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly lane: string;
  readonly attempts: number;
};

/**
 * The lists a record is in, by name, and its place in each: a whole number, usually UTC ms. Records of one place stand in
 * the order of their keys, by bytes. A name is stored as it is: nothing secret belongs in it.
 */
export type Index = Readonly<Record<string, number>>;

/**
 * What a record is created as. With `delayMs` it is work: due after that long, in its lane (its own key
 * when none is given), and never forgotten before it is finished. Without, it is memory: kept for `ttlMs`,
 * or for ever when none is given.
 */
export type CreateOptions = ({ delayMs: number; lane?: string } | { ttlMs?: number }) & { index?: Index };

/**
 * What a record becomes. With `delayMs` it is work again, due after that long (`ttlMs` then means nothing:
 * work never expires); without, it is finished and kept for `ttlMs` (for ever when none is given).
 * `pauseMs` keeps the record's whole lane from being taken for that long; a shorter pause never cuts a
 * longer one. Either way the lane's lease, if this entry held it, ends when no other entry taken with
 * it is still out.
 */
export type WriteOptions = {
  delayMs?: number;
  ttlMs?: number;
  pauseMs?: number;
  /** The lane it is in from now on; absent: it stays. A pause and a lease are of the lane that it leaves. */
  lane?: string;
  /** The lists it is in from now on, and no others: as atomic as the write. Absent: they stay. */
  index?: Index;
  /** Still being worked on: the lane's lease ends this long from now instead, and all else means nothing. Lost when the lease is. */
  holdMs?: number;
};

export type ListOptions = {
  /** `next` of the page before. */
  after?: string;
  /** Where the first page begins, this place included; absent: at the end of the list that is read first. */
  from?: number;
  /** From 1 to 1000. */
  max: number;
  /** From the highest place down; absent: from the lowest up. */
  newestFirst?: boolean;
};

/** `next` is absent on the last page. It stays good whatever becomes of the record it was made from. */
export type Listed = { entries: readonly Entry[]; next?: string };

/**
 * How long the oldest due record waits (0: nothing is due), and how many are due by what their lane is: `free`, `leased`
 * to a worker, or `paused`. `mostDue` stands for that many or more.
 */
type Backlog = { oldestDueMs: number; due: Readonly<Record<'free' | 'leased' | 'paused', number>> };

export const mostDue = 10_000;

/**
 * Dedupe memory, outbox, timer, lock and record of intent in one: a few methods, all atomic, all judged by
 * the store's own clock, so that only durations cross this port and no replica's clock matters.
 * Every method throws `StoreUnavailable` when the store cannot answer within its deadline; a call that
 * threw may or may not have been carried out. A duration that is negative, not a number or longer than a
 * hundred years is a bug of the caller and throws RangeError before anything happens. No lease, hold or pause
 * lasts longer than an hour, whatever was asked for. A clock that is put back makes nothing last longer: the store goes on
 * from the time it had.
 */
export type Store = {
  /** Stores once. False: the key is there already, and nothing changed. Two callers never both get true. */
  create(key: string, value: string, options?: CreateOptions): Promise<boolean>;
  /** The record, or undefined when it was never created or its time is over. */
  read(key: string): Promise<Entry | undefined>;
  /**
   * Compare-and-swap on `entry.version`: the entry as it stands now, to be written again. Undefined: somebody
   * changed it meanwhile, or it is gone, or (with `holdMs`) its lease has ended; drop your effect.
   */
  write(entry: Entry, value: string, options?: WriteOptions): Promise<Entry | undefined>;
  /**
   * Leases the free lane whose oldest due entry has been due longest and gives up to `max` (default 1) of
   * its due entries, oldest due first; empty when no free lane has due work. Of a lane whose name does not begin with
   * `lanes` (default: any does) it gives one, whatever `max` is. Until the lease ends or all
   * of them are written, nobody else is given anything of that lane. Raises each entry's version and
   * attempts. What a dead worker left unwritten keeps its place in the lane and is due when the lease ends.
   */
  take(leaseMs: number, max?: number, lanes?: string): Promise<Entry[]>;
  /**
   * The same record with another text for its value: due, expiring and in its lane as before, and in its lists, or with
   * `index` in those alone. False: somebody changed it meanwhile, it is gone, or a worker has it.
   */
  replace(entry: Entry, value: string, index?: Index): Promise<boolean>;
  /**
   * The records that are in the list, in its order, up to `max` of them: those whose time is over are not. Costs the same
   * however long the list is. Throws RangeError for a `max` or an `after` that cannot be.
   */
  list(name: string, options: ListOptions): Promise<Listed>;
  /**
   * Keys of records, some at a time, from '' on: `next` is what to ask with for those that follow. A record that is there
   * all the while is told once at least.
   */
  keysAfter(after: string): Promise<{ keys: readonly string[]; next: string | undefined }>;
  /** What is due now, for whoever watches from outside: costs more the more there is, up to `mostDue`. */
  backlog(): Promise<Backlog>;
  /** Answers when the store can be written to; throws StoreUnavailable otherwise: away, full, read-only. */
  ping(): Promise<void>;
  /** Waits for calls under way; later ones throw StoreUnavailable. May be called twice. */
  close(): Promise<void>;
};

/** The sealed text cannot be opened. The message says why and never holds any of its content. */
export class SealBroken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SealBroken';
  }
}

/** Seals what may name a customer, a transaction or a card, before a store holds it. */
export type Sealer = {
  /** The text, unreadable and bound to its context (the store key it will stand under). Never the same twice. */
  seal(context: string, plain: string): string;
  /** The text again. Throws SealBroken when it was changed, moved under another context, or its key is not here. */
  open(context: string, sealed: string): string;
};
