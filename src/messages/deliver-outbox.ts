import type { HistoryAnswer, PostOutcome } from '../domain/delivery.ts';
import type { Entry, Store } from '../store/store.ts';
import { concludePost, isLeftAsItIs, type ConcludeDeps } from './conclude-post.ts';
import { historyKey, readOutboxRecord, type OutboxRecord } from './outbox.ts';
import { again, finishPosted, hold, paceMs, type Work } from './outbox-work.ts';
import type { Prepared } from './prepare-post.ts';

export type DeliverDeps = ConcludeDeps & {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  /** Makes the message. `mayBeRepeat`: an earlier post of it may have arrived, and that cannot be found out. */
  prepare: (work: Work, mayBeRepeat: boolean) => Promise<Prepared>;
  /** Looks for a message in the channel itself, or in one of its threads. */
  findByKey: (channel: string, key: string, sinceMs: number, threadTs?: string) => Promise<HistoryAnswer>;
  /** What became of the last post to a channel, for health. */
  report: (channel: string, outcome: PostOutcome) => void;
  /** Longer than a look-up, a history read and a post with their deadlines together. */
  leaseMs: number;
};

/** Before all that came after it: work that is due anew would go behind it. */
const atOnce = { holdMs: 0 } as const;

/**
 * Delivers one record that was taken. Each is posted once: `doubt` is written before the post leaves, by
 * compare-and-swap, so a worker that lost its lease posts nothing, and one that finds it set asks the
 * channel's history before it repeats anything. A message that has a `progress` is edited from then on, whenever
 * `markStale` asks for it. Throws what keeps it from being delivered.
 */
export async function deliverEntry(deps: DeliverDeps, entry: Entry): Promise<void> {
  const taken: Work = { entry, record: readOutboxRecord(entry.value) };
  const verdict = await settleDoubt(deps, taken);
  if (verdict === 'settled') return;
  // A doubt that stands is older than this post: whatever becomes of the post, that one may have arrived.
  const standing = verdict === 'stands' ? taken.record.doubt : undefined;
  const claimedAtMs = deps.now();
  const work = await claim(deps, taken);
  if (!work) return;
  const prepared = await deps.prepare(work, standing !== undefined);
  switch (prepared.kind) {
    case 'settled':
      return;
    case 'edit':
      if (hasTime(deps, claimedAtMs)) await edit(deps, work, prepared);
      return;
    case 'post':
      await post(deps, work, { ...prepared, standing });
      return;
  }
}

/**
 * From here on what it tells of is read: written first, so that whoever changes that later sees that this message
 * may show what it was before. Only for what is edited.
 */
async function claim(deps: DeliverDeps, work: Work): Promise<Work | undefined> {
  if (!work.record.progress) return work;
  const { leaseMs } = deps;
  // A post that may have arrived shows what was read before; found later, it is edited once more.
  const before = work.record.doubt ? { shown: undefined } : {};
  const claimed = await hold(deps, work, { ...before, progress: { kind: 'leaving', leaseMs } }, leaseMs);
  // Nothing was sent: whoever marked it stale after a crash need not wait for another lease.
  if (!claimed) await again(deps, work, {}, atOnce);
  return claimed;
}

/** False when this process slept so long that the post, or its words alone, could outlive the lease. */
function hasTime(deps: DeliverDeps, heldAtMs: number): boolean {
  return deps.now() - heldAtMs <= deps.leaseMs - 2 * deps.postTimeoutMs;
}

async function edit(
  deps: DeliverDeps,
  work: Work,
  { posted, message }: Extract<Prepared, { kind: 'edit' }>,
): Promise<void> {
  const outcome = await message.edit(posted.channel, posted.ts);
  if (!isLeftAsItIs(work.record, outcome)) deps.report(posted.channel, outcome);
  const { digest: shown } = message;
  const { channel } = posted;
  await concludePost(deps, work, { channel, outcome, standing: undefined, doubt: undefined, shown });
}

type Posting = Extract<Prepared, { kind: 'post' }> & { standing: OutboxRecord['doubt'] };

async function post(deps: DeliverDeps, work: Work, posting: Posting): Promise<void> {
  const { channel, threadTs, message, standing, keep = {} } = posting;
  const heldAtMs = deps.now();
  const doubt = widen(standing, { channel, threadTs }, heldAtMs);
  const doubted = await hold(
    deps,
    work,
    { ...keep, doubt, shown: standing ? undefined : message.digest },
    deps.leaseMs,
  );
  // What it tells of went on, and nothing was sent: it is read again.
  if (!doubted) await again(deps, work, {}, atOnce);
  // Somebody else's by now, or too late to post.
  if (!doubted || !hasTime(deps, heldAtMs)) return;
  const outcome = await message.post(channel, threadTs);
  deps.report(channel, outcome);
  const { digest: shown } = message;
  await concludePost(deps, doubted, { channel, outcome, standing, doubt, shown });
}

/** The doubt about a new post: it covers the older one where both went to the same place, and says that there was one. */
function widen(
  standing: OutboxRecord['doubt'],
  place: { channel: string; threadTs: string | undefined },
  sinceMs: number,
): NonNullable<OutboxRecord['doubt']> {
  if (!standing) return { ...place, sinceMs };
  const isSamePlace = standing.channel === place.channel && standing.threadTs === place.threadTs;
  return isSamePlace
    ? { ...standing, older: standing.older ?? 'here' }
    : { ...place, sinceMs, older: 'elsewhere' };
}

/**
 * How long a history that does not answer is waited for before the post is repeated, marked: longer than Slack is
 * usually away. Until then it keeps its place before all that came after it.
 */
const historyPatienceMs = 900_000;
const askAgainMs = 5_000;

/**
 * What is known of an earlier post that may have arrived. `none`: it did not, or there was none. `stands`:
 * it cannot be found out, so a repeat must say that it may be one. `settled`: it is in the channel, or the
 * record waits for the history; nothing more is to be done now.
 */
async function settleDoubt(deps: DeliverDeps, work: Work): Promise<'none' | 'stands' | 'settled'> {
  const { doubt } = work.record;
  if (!doubt) return 'none';
  const key = historyKey(work.entry.key, work.record);
  const answer = await deps.findByKey(doubt.channel, key, doubt.sinceMs, doubt.threadTs);
  switch (answer.kind) {
    case 'found':
      await finishPosted(deps, work, { channel: doubt.channel, ts: answer.ts }, work.record.shown);
      return 'settled';
    case 'absent':
      return doubt.older === 'elsewhere' ? 'stands' : 'none';
    case 'unreadable':
      return 'stands';
    case 'unknown':
      return await waitForHistory(deps, work, doubt, answer.retryAfterMs ?? askAgainMs);
  }
}

async function waitForHistory(
  deps: DeliverDeps,
  work: Work,
  doubt: NonNullable<OutboxRecord['doubt']>,
  delayMs: number,
): Promise<'stands' | 'settled'> {
  const silentSinceMs = doubt.silentSinceMs ?? deps.now();
  if (deps.now() - silentSinceMs >= historyPatienceMs) return 'stands';
  await again(
    deps,
    work,
    { doubt: { ...doubt, silentSinceMs } },
    {
      holdMs: Math.max(delayMs, paceMs),
    },
  );
  return 'settled';
}
