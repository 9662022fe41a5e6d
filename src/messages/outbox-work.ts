import type { Entry, Store, WriteOptions } from '../store/store.ts';
import { detailsLane, toChannelLane, restOf, type AlertAgeDeps } from './alert-age.ts';
import { endIncident } from './dead-letters.ts';
import { listsOf, readOutboxRecord, writeOutboxRecord, type OutboxRecord } from './outbox.ts';

/** One record taken to be posted. */
export type Work = { entry: Entry; record: OutboxRecord };

export type WorkDeps = AlertAgeDeps & { store: Pick<Store, 'read' | 'write'> };

type Change = Partial<Omit<OutboxRecord, 'progress'>>;

/** Slack takes about one message a second in a channel. */
export const paceMs = 1_000;
/** Whoever mends what keeps a message from its channel wants to see it told the same day. */
export const longestRetryMs = 3_600_000;

/** Slack takes some fifty edits a minute: that leaves most of them to the messages that people wait for. */
const detailsPaceMs = 3_000;

/**
 * Goes on holding the record, with a change, for as long as the lease given. Undefined when somebody else has
 * it by now or marked it stale, and our effect is to be dropped.
 */
export async function hold(
  deps: WorkDeps,
  work: Work,
  change: Partial<OutboxRecord>,
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
  return conclude(deps, work, () => ({
    record: change,
    progress: { kind: 'waiting' },
    options,
  }));
}

/**
 * Done, with a change, and remembered from now on. A message that is stale by now is work again, with the
 * same change: what is known of its post must never be lost, or it would be posted twice.
 */
export function finish(deps: WorkDeps, work: Work, change: Change, pauseMs = paceMs): Promise<boolean> {
  return conclude(deps, work, (stored) =>
    // Whatever else it says by now was written over our `leaving`, because what it tells of went on.
    stored.progress && stored.progress.kind !== 'leaving'
      ? {
          record: change,
          progress: { kind: 'waiting' },
          options: {
            delayMs: pauseMs,
            pauseMs,
            ...toChannelLane(work.entry, stored),
          },
        }
      : {
          record: change,
          progress: { kind: 'done' },
          options: { ...restOf(deps, { ...stored, ...change }), pauseMs },
        },
  );
}

/**
 * In the channel. `shown` is the digest of what it shows; undefined where that is not known, and a message that
 * is edited is then edited once more.
 */
export async function finishPosted(
  deps: WorkDeps,
  work: Work,
  posted: NonNullable<OutboxRecord['posted']>,
  shown: string | undefined,
): Promise<boolean> {
  const { doubt, refused, reposted } = work.record;
  const mayBeRepeat = doubt?.older ? true : work.record.mayBeRepeat;
  const mended = { doubt: undefined, refused: undefined, misses: 0 };
  const change = { ...mended, posted, shown, mayBeRepeat, reposted };
  // A person’s channel has another name than theirs.
  if (refused && (refused.channel === posted.channel || posted.channel.startsWith('D')))
    await endIncident(deps.store, refused.channel);
  return await (work.record.progress && shown === undefined
    ? again(deps, work, change, { delayMs: paceMs, pauseMs: paceMs })
    : finish(deps, work, change, paceOf(work)));
}

/** How long what comes next in the lane waits. */
function paceOf({ entry }: Work): number {
  return entry.lane === detailsLane ? detailsPaceMs : paceMs;
}

type Ending = {
  record: Change;
  progress: NonNullable<OutboxRecord['progress']>;
  options: WriteOptions;
};

/**
 * Ends the work on a record by compare-and-swap, over whatever `markStale` wrote meanwhile: that changes
 * nothing but the progress. `attempts` counts how often the record was taken, so the same count says that no
 * other worker has had it; another count, that what we know is no longer asked for.
 */
async function conclude(deps: WorkDeps, work: Work, end: (stored: OutboxRecord) => Ending): Promise<boolean> {
  const { attempts } = work.entry;
  let { entry, record: stored } = work;
  let isLeaseOver = false;
  for (;;) {
    const { record, progress, options: asked } = end(stored);
    const next = { ...stored, ...record, ...(stored.progress ? { progress } : {}) };
    const isListed = next.kind === 'alert' || stored.refused?.givenUp || next.refused?.givenUp;
    const options = { ...asked, ...(isListed ? { index: listsOf(next) } : {}) };
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    if (await deps.store.write(entry, writeOutboxRecord(next), isLeaseOver ? unheld(options) : options))
      return true;
    // oxlint-disable-next-line no-await-in-loop
    const found = await deps.store.read(entry.key);
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
 * What a message tells of went on: the message, if there is one, catches up. True when somebody must be woken for
 * it; false when there is no such record, or when whoever has it sees to it.
 *
 * Why nothing is lost: what it tells of was changed before this call. A worker reads that only after it has written
 * `leaving`; so `waiting` means that it is read later than now, and from `leaving` on our mark makes the
 * worker's own write fail or become work again. The mark goes on holding the lane for the worker: a write that
 * ended its lease would have the message taken, and posted, a second time while it leaves.
 */
export async function markStale(store: Pick<Store, 'read' | 'write'>, key: string): Promise<boolean> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    const entry = await store.read(key);
    if (!entry) return false;
    const record = readOutboxRecord(entry.value);
    const { progress } = record;
    if (!progress || progress.kind === 'waiting' || progress.kind === 'stale') return false;
    if (progress.kind === 'leaving') {
      const stale = writeOutboxRecord({ ...record, progress: { kind: 'stale' } });
      // oxlint-disable-next-line no-await-in-loop
      if (await store.write(entry, stale, { holdMs: progress.leaseMs })) return false;
      // oxlint-disable-next-line no-await-in-loop
      if ((await store.read(key))?.version !== entry.version) continue;
      // Refused though nobody changed it: the lease is over, and its worker with it.
    }
    const waiting = writeOutboxRecord({ ...record, progress: { kind: 'waiting' } });
    // oxlint-disable-next-line no-await-in-loop
    if (await store.write(entry, waiting, { delayMs: 0, ...toChannelLane(entry, record) })) return true;
  }
}
