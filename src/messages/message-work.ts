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

/** One record taken to be posted. */
export type Work = { entry: Entry; record: MessageRecord };

/** What posting to channels needs. */
export type Teller = {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
  /** Looks for a message in the channel itself, or in one of its threads. */
  findByKey: Delivery['findByKey'];
  /** How long one piece of work may be held: longer than a look-up, a history read and a post with their deadlines together. */
  leaseMs: number;
  /** Deadline of one post. */
  postTimeoutMs: number;
  rememberMs: number;
  /** How old a posted alert gets before its details are taken away, shorter than it is remembered; absent: it keeps them. */
  detailsMs?: number;
  /** For how long a channel that Slack refuses is tried before its messages become dead letters. */
  giveUpMs: number;
  now: () => number;
  log: Log;
};

type Remembering = Pick<Teller, 'rememberMs' | 'detailsMs' | 'now'>;

/** How long alerts are remembered, and their details. */
export function rememberedFor(settings: {
  webhookRememberDays: number;
  /** 0: as long as they are. */
  alertDetailsDays: number;
}): Omit<Remembering, 'now'> {
  const [rememberMs, detailsMs] = [settings.webhookRememberDays * dayMs, settings.alertDetailsDays * dayMs];
  return detailsMs === 0 ? { rememberMs } : { rememberMs, detailsMs };
}

/** All but what says which version of it is asked for. */
export type Change = Partial<Omit<MessageRecord, 'wanted' | 'turns'>>;

/** Slack takes about one message a second in a channel. */
export const paceMs = 1_000;
/** A mended channel gets its messages within this time. */
export const longestRetryMs = hourMs;

/** Slack takes some fifty edits a minute: that leaves most of them to the messages that people wait for. */
const detailsPaceMs = 3_000;

/**
 * Goes on holding the record, with a change, for as long as the lease given. Undefined when somebody else has it by now,
 * or asked for another version, and our effect is to be dropped.
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
 * Work again, with a change and when the options say: with `holdMs` its lane waits that long, and it is then still
 * before all that came after it. False when another worker has it by now.
 */
export function again(
  { store }: { store: Pick<Store, 'read' | 'write'> },
  work: Work,
  change: Change,
  options: WriteOptions,
): Promise<boolean> {
  return endTurn(store, work, change, () => options);
}

/**
 * Settled in the version that was taken, with a change, and remembered from now on. Where another one is asked for by
 * now it is work again, with the same change: what is known of its post must never be lost, or it would be posted twice.
 */
export function finish(
  teller: Remembering & { store: Pick<Store, 'read' | 'write'> },
  work: Work,
  change: Change,
  pauseMs = work.entry.lane === detailsLane ? detailsPaceMs : paceMs,
): Promise<boolean> {
  const settled = work.record.wanted;
  return endTurn(teller.store, work, { ...change, settled }, (next) => ({
    ...(next.wanted > settled ? { delayMs: pauseMs, lane: laneOf(next) } : restOf(teller, next)),
    pauseMs,
  }));
}

/**
 * Ends the work on a record by compare-and-swap, also over a version that was asked for meanwhile. `attempts` counts how
 * often the record was taken, so the same count says that no other worker has had it; another count, that what we know is
 * no longer asked for.
 */
async function endTurn(
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
    // Refused though nobody changed it.
    isLeaseOver = found.version === entry.version;
    entry = found;
    stored = readMessageRecord(found.value);
  }
}

/** The place in the lane went with the lease. */
function unheld(options: WriteOptions): WriteOptions {
  const { holdMs } = options;
  return holdMs === undefined ? options : { delayMs: holdMs, pauseMs: holdMs };
}

/**
 * Where posted alerts wait until their details are taken away. A lane of its own, one for all channels: however many
 * are due, after an outage too, no new alert waits behind them, and no more than one in three seconds is edited.
 */
export const detailsLane = 'alert-details';

/** Memory from now on; but an alert that was posted is work once more, at the age at which its details go. */
function restOf({ rememberMs, detailsMs, now }: Remembering, record: MessageRecord): WriteOptions {
  const ttlMs = record.rememberMs ?? rememberMs;
  if (!isAlert(record) || !record.posted || detailsMs === undefined) return { ttlMs };
  if (record.isErased) return { ttlMs: Math.max(0, ttlMs - detailsMs) };
  return { delayMs: Math.max(0, toldAtMs(record) + detailsMs - now()), lane: detailsLane };
}

/** Whether an alert that was posted is so old that its details go. */
export function isOld({ detailsMs, now }: Remembering, record: MessageRecord): boolean {
  return detailsMs !== undefined && now() >= toldAtMs(record) + detailsMs;
}

/** What came in an outage is as old as its message, whose time Slack names it by, in seconds. */
function toldAtMs({ receivedAtMs, posted }: MessageRecord): number {
  return Math.max(receivedAtMs, Number(posted?.ts ?? 0) * 1_000 || 0);
}
