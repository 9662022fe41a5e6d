import { dayMs, hourMs } from '../domain/span.ts';
import type { Log } from '../log.ts';
import type { Entry, Sealer, Store, WriteOptions } from '../store/store.ts';
import type { Delivery } from './delivery.ts';
import {
  isAlert,
  laneOf,
  listsOf,
  readMessageRecord,
  writeMessageRecord,
  type MessageRecord,
} from './message-record.ts';

/** A message record that this worker has leased. */
export type Work = { entry: Entry; record: MessageRecord };

/** What posting to channels needs. */
export type Outbox = {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
  findByKey: Delivery['findByKey'];
  /** Lease on one message: longer than the deadlines of a look-up, a history search and a post together. */
  leaseMs: number;
  /** Deadline of one post. */
  postTimeoutMs: number;
  rememberMs: number;
  /** Age at which a posted alert's details are erased, less than `rememberMs`; absent: never. */
  detailsMs?: number;
  /** How long a refused channel is retried before its messages become dead letters. */
  giveUpMs: number;
  now: () => number;
  log: Log;
};

type Remembering = Pick<Outbox, 'rememberMs' | 'detailsMs' | 'now'>;

/** How long alerts, and their details, are kept. */
export function rememberedFor(settings: {
  webhookRememberDays: number;
  /** 0: as long as the alert. */
  alertDetailsDays: number;
}): Omit<Remembering, 'now'> {
  const [rememberMs, detailsMs] = [settings.webhookRememberDays * dayMs, settings.alertDetailsDays * dayMs];
  return detailsMs === 0 ? { rememberMs } : { rememberMs, detailsMs };
}

/** Any field except the requested version and the end of the last lease. */
export type Change = Partial<Omit<MessageRecord, 'wanted' | 'turns'>>;

/** Slack's limit: about one message a second in a channel. */
export const paceMs = 1_000;
/** The longest back-off, so that a repaired channel gets its messages within an hour. */
export const longestRetryMs = hourMs;

/** Slack allows about fifty edits a minute; this leaves most of them to messages that people wait for. */
const detailsPaceMs = 3_000;

/**
 * Stores a change and renews the lease. Undefined: the lease has ended, or a newer version was requested; then send
 * nothing.
 */
export async function hold(
  { store }: { store: Pick<Store, 'write'> },
  work: Work,
  change: Change,
  holdMs: number,
): Promise<Work | undefined> {
  const record = { ...work.record, ...change };
  const entry = await store.write(work.entry, writeMessageRecord(record), { holdMs });
  return entry && { entry, record };
}

/**
 * Stores a change and makes the record due as the options say. `holdMs`: its lane waits that long, and the record stays
 * first in it. False: another worker holds it.
 */
export function reschedule(
  { store }: { store: Pick<Store, 'read' | 'write'> },
  work: Work,
  change: Change,
  options: WriteOptions,
): Promise<boolean> {
  return endLease(store, work, change, () => options);
}

/**
 * Stores a change and settles the version that was leased; the record is no longer due. If a newer version was
 * requested meanwhile, the change is stored all the same (a forgotten post would be made twice), and the record is due
 * again.
 */
export function finish(
  outbox: Remembering & { store: Pick<Store, 'read' | 'write'> },
  work: Work,
  change: Change,
  pauseMs = work.entry.lane === detailsLane ? detailsPaceMs : paceMs,
): Promise<boolean> {
  const settled = work.record.wanted;
  return endLease(outbox.store, work, { ...change, settled }, (next) => ({
    ...(next.wanted > settled ? { delayMs: pauseMs, lane: laneOf(next) } : afterSettled(outbox, next)),
    pauseMs,
  }));
}

/**
 * Stores a change and ends the lease, by compare-and-swap. Repeated after a conflict, unless another worker had the
 * record meanwhile (`attempts`, which counts leases, has changed): then returns false, because this change is out of
 * date.
 */
async function endLease(
  store: Pick<Store, 'read' | 'write'>,
  work: Work,
  change: Change,
  optionsOf: (next: MessageRecord) => WriteOptions,
): Promise<boolean> {
  const { attempts } = work.entry;
  let { entry, record: stored } = work;
  let isLeaseOver = false;
  for (;;) {
    const next = { ...stored, ...change, turns: attempts };
    const asked = optionsOf(next);
    const lane = entry.lane === detailsLane && next.posted ? detailsLane : laneOf(next);
    const isListed = isAlert(next) || stored.refused?.givenUp || next.refused?.givenUp;
    const options = {
      lane,
      ...(isLeaseOver ? unheld(asked) : asked),
      ...(isListed ? { index: listsOf(entry.key, next) } : {}),
    };
    if (await store.write(entry, writeMessageRecord(next), options)) return true;
    const found = await store.read(entry.key);
    if (found?.attempts !== attempts) return false;
    // Same version, yet the write failed: the lease has expired.
    isLeaseOver = found.version === entry.version;
    entry = found;
    stored = readMessageRecord(found.value);
  }
}

/** An expired lease can't hold the lane: delay this record and pause the lane instead. */
function unheld(options: WriteOptions): WriteOptions {
  const { holdMs } = options;
  return holdMs === undefined ? options : { delayMs: holdMs, pauseMs: holdMs };
}

/**
 * Lane of posted alerts whose details will be erased. One for all channels, with at most an edit in three seconds, so
 * that no new alert waits for these edits, even after an outage.
 */
export const detailsLane = 'alert-details';

/** Settled records become memory; a posted alert first becomes due once more, when its details are to be erased. */
function afterSettled({ rememberMs, detailsMs, now }: Remembering, record: MessageRecord): WriteOptions {
  const ttlMs = record.rememberMs ?? rememberMs;
  if (!isAlert(record) || !record.posted || detailsMs === undefined) return { ttlMs };
  if (record.isErased) return { ttlMs: Math.max(0, ttlMs - detailsMs) };
  return { delayMs: Math.max(0, agesFromMs(record) + detailsMs - now()), lane: detailsLane };
}

/** Whether a posted alert is so old that its details are to be erased. */
export function areDetailsOver({ detailsMs, now }: Remembering, record: MessageRecord): boolean {
  return detailsMs !== undefined && now() >= agesFromMs(record) + detailsMs;
}

/** From when an alert's age counts: its post, if that was later, as after an outage. Slack's `ts` is in seconds. */
function agesFromMs({ receivedAtMs, posted }: MessageRecord): number {
  return Math.max(receivedAtMs, Number(posted?.ts ?? 0) * 1_000 || 0);
}
