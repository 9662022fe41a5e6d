import type { DailySummary } from '../../domain/daily-summary.ts';
import { openBody, type SummarySpan } from '../outbox/outbox-bodies.ts';
import type { Work } from '../outbox/outbox-work.ts';
import type { PrepareDeps, Prepared } from '../outbox/prepare-post.ts';

export type SummaryPostDeps = PrepareDeps & {
  /** What a channel is told of a day; see `summariseDay`. */
  summarise: (channel: string, time: SummarySpan) => Promise<DailySummary>;
};

/** Made when it leaves, behind the alerts that were before it in its channel. */
export async function prepareDailySummary(
  deps: SummaryPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { channel } = record;
  const summary = await deps.summarise(channel, openBody('daily_summary', deps.sealer, work));
  const message = deps.compose({ kind: 'daily_summary', summary, key: entry.key, mayBeRepeat });
  return { kind: 'post', channel, message };
}
