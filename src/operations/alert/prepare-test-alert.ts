import { historyKey } from '../outbox/outbox.ts';
import { openBody } from '../outbox/outbox-bodies.ts';
import type { Work } from '../outbox/outbox-work.ts';
import { isRepeat, postOrEdit, settle } from '../outbox/post-or-edit.ts';
import type { PrepareDeps, Prepared } from '../outbox/prepare-post.ts';

/** A test that comes late proves nothing and only startles. */
const testPatienceMs = 600_000;

export async function prepareTestAlert(
  deps: PrepareDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  if (!record.posted && deps.now() - record.receivedAtMs >= testPatienceMs) return await settle(deps, work);
  const { askedBy } = openBody('test_alert', deps.sealer, work);
  const repeat = isRepeat(work, mayBeRepeat);
  const key = historyKey(entry.key, record);
  const message = deps.compose({ kind: 'test_alert', askedBy, key, mayBeRepeat: repeat });
  return await postOrEdit(deps, work, record.channel, message);
}
