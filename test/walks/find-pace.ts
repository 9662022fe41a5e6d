import type { World } from './world.ts';

/**
 * Slack’s pace. Two lanes may meet in one channel: when the rules sent there what waits in another’s lane, and when a
 * digest, which is posted past the queue, or a person’s direct message about one, comes beside an alert.
 */
export function findWrongPace({ slack, plans, violate }: World): void {
  if (plans.length > 1) return;
  for (const { key, channel, after } of slack.tooSoon) {
    const isDigest = key.startsWith('outbox:digest:') || after?.post.kind === 'digest';
    if (!isDigest) violate(`${key} comes sooner than Slack takes it in ${channel}, behind ${after?.key}`);
  }
}
