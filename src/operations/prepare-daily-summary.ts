import { openBody } from './outbox-bodies.ts';
import type { Work } from './outbox-work.ts';
import type { PrepareDeps, Prepared } from './prepare-post.ts';

/** Made when it leaves, behind the alerts that were before it in its channel. */
export async function prepareDailySummary(
  deps: PrepareDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { channel } = record;
  const summary = await deps.summarise(channel, openBody('daily_summary', deps.sealer, work));
  const message = deps.compose({ kind: 'daily_summary', summary, key: entry.key, mayBeRepeat });
  return { kind: 'post', channel, message };
}
