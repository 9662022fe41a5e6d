import { openDailySummary } from './outbox.ts';
import type { Work } from './outbox-work.ts';
import type { PrepareDeps, Prepared } from './prepare-post.ts';

/** Made when it leaves, behind the alerts that were before it in its channel. */
export async function prepareDailySummary(
  deps: PrepareDeps,
  { entry, record }: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { channel } = record;
  const summary = await deps.summarise(channel, openDailySummary(deps.sealer, entry.key, record));
  const message = deps.compose({ kind: 'daily_summary', summary, key: entry.key, mayBeRepeat });
  return { kind: 'post', channel, message };
}
