import type { Entry, Store, WriteOptions } from '../store/store.ts';
import { detailsLane, toChannelLane, restOf, type AlertAgeDeps } from './alert-age.ts';
import { listsOf, readOutboxRecord, writeOutboxRecord, type OutboxRecord } from './outbox.ts';

/** One record taken to be posted. */
export type Work = { entry: Entry; record: OutboxRecord };

export type WorkDeps = AlertAgeDeps & { store: Pick<Store, 'read' | 'write'> };

/** All but what says which version of it is asked for. */
export type Change = Partial<Omit<OutboxRecord, 'wanted' | 'turns'>>;

/** Slack takes about one message a second in a channel. */
export const paceMs = 1_000;
/** Whoever mends what keeps a message from its channel wants to see it told the same day. */
export const longestRetryMs = 3_600_000;

/** Slack takes some fifty edits a minute: that leaves most of them to the messages that people wait for. */
const detailsPaceMs = 3_000;

/**
 * Goes on holding the record, with a change, for as long as the lease given. Undefined when somebody else has it by now,
 * or asked for another version, and our effect is to be dropped.
 */
export async function hold(
  deps: WorkDeps,
  work: Work,
  change: Change,
  holdMs: number,
): Promise<Work | undefined> {
  const record = { ...work.record, ...change };
  const entry = await deps.store.write(work.entry, writeOutboxRecord(record), { holdMs });
  return entry && { entry, record };
}

/**
 * Work again, with a change and when the options say: with `holdMs` its lane waits that long, and it is then still
 * before all that came after it. False when another worker has it by now.
 */
export function again(deps: WorkDeps, work: Work, change: Change, options: WriteOptions): Promise<boolean> {
  return endTurn(deps, work, change, () => options);
}

/**
 * Settled in the version that was taken, with a change, and remembered from now on. Where another one is asked for by
 * now it is work again, with the same change: what is known of its post must never be lost, or it would be posted twice.
 */
export function finish(
  deps: WorkDeps,
  work: Work,
  change: Change,
  pauseMs = work.entry.lane === detailsLane ? detailsPaceMs : paceMs,
): Promise<boolean> {
  const { entry, record } = work;
  const settled = record.wanted;
  return endTurn(deps, work, { ...change, settled }, (next) => ({
    ...(next.wanted > settled ? { delayMs: pauseMs, ...toChannelLane(entry, next) } : restOf(deps, next)),
    pauseMs,
  }));
}

/**
 * Ends the work on a record by compare-and-swap, also over a version that was asked for meanwhile. `attempts` counts how
 * often the record was taken, so the same count says that no other worker has had it; another count, that what we know is
 * no longer asked for.
 */
async function endTurn(
  { store }: WorkDeps,
  work: Work,
  change: Change,
  optionsOf: (next: OutboxRecord) => WriteOptions,
): Promise<boolean> {
  const { attempts } = work.entry;
  let { entry, record: stored } = work;
  let isLeaseOver = false;
  for (;;) {
    const next = { ...stored, ...change, turns: attempts };
    const asked = optionsOf(next);
    const isListed = next.kind === 'alert' || stored.refused?.givenUp || next.refused?.givenUp;
    const options = {
      ...(isLeaseOver ? unheld(asked) : asked),
      ...(isListed ? { index: listsOf(entry.key, next) } : {}),
    };
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    if (await store.write(entry, writeOutboxRecord(next), options)) return true;
    // oxlint-disable-next-line no-await-in-loop
    const found = await store.read(entry.key);
    if (found?.attempts !== attempts) return false;
    // Refused though nobody changed it.
    isLeaseOver = found.version === entry.version;
    entry = found;
    stored = readOutboxRecord(found.value);
  }
}

/** The place in the lane went with the lease. */
function unheld(options: WriteOptions): WriteOptions {
  const { holdMs } = options;
  return holdMs === undefined ? options : { delayMs: holdMs, pauseMs: holdMs };
}

/**
 * What a message tells of went on, and was stored before this call: another version of it is asked for. True when somebody
 * must be woken for it; false when there is no such record, when it waits and is read later than now, or when whoever
 * has it sees to it: that one loses its next write, or finds the new version when it is done. Its lease goes on meanwhile,
 * because a write that ended it would have the message taken, and posted, a second time while it leaves.
 */
export async function refreshMessage(
  { store, leaseMs }: { store: Pick<Store, 'read' | 'write'>; leaseMs: number },
  key: string,
): Promise<boolean> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    const entry = await store.read(key);
    if (!entry) return false;
    const record = readOutboxRecord(entry.value);
    const isTaken = entry.attempts > record.turns;
    if (!isTaken && record.settled < record.wanted) return false;
    const next = { ...record, wanted: record.wanted + 1 };
    // oxlint-disable-next-line no-await-in-loop
    if (isTaken && (await store.write(entry, writeOutboxRecord(next), { holdMs: leaseMs }))) return false;
    // oxlint-disable-next-line no-await-in-loop
    if (isTaken && (await store.read(key))?.version !== entry.version) continue;
    // Nobody has it, or its lease is over, and its worker with it.
    const value = writeOutboxRecord({ ...next, turns: entry.attempts });
    // oxlint-disable-next-line no-await-in-loop
    if (await store.write(entry, value, { delayMs: 0, ...toChannelLane(entry, record) })) return true;
  }
}
