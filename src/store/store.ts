/**
 * One record of the store. `version` rises with every change, lease included, and is what a
 * compare-and-swap compares. `attempts` counts how often the record was taken as work.
 */
export type Entry = {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly lane: string;
  readonly attempts: number;
};

/**
 * What a record is created as. With `delayMs` it is work: due after that long, in its lane (its own key
 * when none is given), and never forgotten before it is finished. Without, it is memory: kept for `ttlMs`,
 * or for ever when none is given.
 */
export type CreateOptions = { delayMs: number; lane?: string } | { ttlMs?: number };

/**
 * What a record becomes. With `delayMs` it is work again, due after that long; without, it is finished and
 * kept for `ttlMs` (for ever when none is given). `pauseMs` keeps the record's whole lane from being taken
 * for that long. Either way the lane's lease, if this entry held it, ends when no other entry taken with
 * it is still out.
 */
export type WriteOptions = { delayMs?: number; ttlMs?: number; pauseMs?: number };

/**
 * Dedupe memory, outbox, timer, lock and record of intent in one: four methods, all atomic, all judged by
 * the store's own clock, so that only durations cross this port and no replica's clock matters.
 * Every method throws `StoreUnavailable` when the store cannot answer within its deadline; a call that
 * threw may or may not have been carried out.
 */
export type Store = {
  /** Stores once. False: the key is there already, and nothing changed. Two callers never both get true. */
  create(key: string, value: string, options?: CreateOptions): Promise<boolean>;
  /** The record, or undefined when it was never created or its time is over. */
  read(key: string): Promise<Entry | undefined>;
  /** Compare-and-swap on `entry.version`. False: somebody changed it meanwhile, or it is gone; drop your effect. */
  write(entry: Entry, value: string, options?: WriteOptions): Promise<boolean>;
  /**
   * Leases the free lane that has waited longest and gives up to `max` (default 1) of its due entries,
   * oldest due first; empty when no lane has due work. Until the lease ends or all of them are written,
   * nobody else is given anything of that lane. Raises each entry's version and attempts.
   */
  take(leaseMs: number, max?: number): Promise<Entry[]>;
  /** Answers when the store does; throws StoreUnavailable otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** The store did not answer in time, or refused. Whether the call was carried out is unknown. */
export class StoreUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreUnavailable';
  }
}
