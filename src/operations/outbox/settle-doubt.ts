import { historyKey, type OutboxRecord } from './outbox.ts';
import type { HistoryAnswer } from '../../domain/delivery.ts';
import { again, finishPosted, paceMs, type Work, type WorkDeps } from './outbox-work.ts';

/**
 * How long a history that does not answer is waited for before the post is repeated, marked: longer than Slack is
 * usually away. Until then it keeps its place before all that came after it.
 */
const historyPatienceMs = 900_000;
const askAgainMs = 5_000;

export type DoubtDeps = WorkDeps & {
  /** In the channel itself, or in one of its threads. */
  findByKey: (channel: string, key: string, sinceMs: number, threadTs?: string) => Promise<HistoryAnswer>;
};

/**
 * What is known of an earlier post that may have arrived. `none`: it did not, or there was none. `stands`:
 * it cannot be found out, so a repeat must say that it may be one. `settled`: it is in the channel, or the
 * record waits for the history; nothing more is to be done now.
 */
export async function settleDoubt(deps: DoubtDeps, work: Work): Promise<'none' | 'stands' | 'settled'> {
  const { doubt } = work.record;
  if (!doubt) return 'none';
  const key = historyKey(work.entry.key, work.record);
  const answer = await deps.findByKey(doubt.channel, key, doubt.sinceMs, doubt.threadTs);
  switch (answer.kind) {
    case 'found':
      await finishPosted(deps, work, { channel: doubt.channel, ts: answer.ts }, work.record.shown);
      return 'settled';
    case 'absent':
      return doubt.elsewhere ? 'stands' : 'none';
    case 'unreadable':
      return 'stands';
    case 'unknown':
      return await waitForHistory(deps, work, doubt, answer.retryAfterMs ?? askAgainMs);
  }
}

async function waitForHistory(
  deps: DoubtDeps,
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
