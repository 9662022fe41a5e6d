import { historyKey } from '../outbox/outbox.ts';
import { openBody } from '../outbox/outbox-bodies.ts';
import type { Work } from '../outbox/outbox-work.ts';
import { followedByEdit, isRepeat, postOrEdit, settle } from '../outbox/post-or-edit.ts';
import type { Composed, PrepareDeps, Prepared } from '../outbox/prepare-post.ts';

/** A test that comes late proves nothing and only startles. */
const testPatienceMs = 600_000;

/**
 * Posted without a name, because the post would ping whoever just clicked, and edited at once to say who asked.
 */
export async function prepareTestAlert(
  deps: PrepareDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const isFirst = !record.posted;
  if (isFirst && deps.now() - record.receivedAtMs >= testPatienceMs) return await settle(deps, work);
  const { askedBy } = openBody('test_alert', deps.sealer, work);
  const repeat = isRepeat(work, mayBeRepeat);
  const key = historyKey(entry.key, record);
  const compose = (leavesOut: boolean): Composed =>
    deps.compose({ kind: 'test_alert', askedBy, key, mayBeRepeat: repeat, isFirst: leavesOut });
  return await postOrEdit(deps, work, record.channel, isFirst ? followedByEdit(compose) : compose(false));
}
