import { randomUUID } from 'node:crypto';
import { historyKey, outboxKey } from '../../messages/outbox.ts';
import { openBody } from '../../messages/outbox-bodies.ts';
import type { Work } from '../../messages/outbox-work.ts';
import { isRepeat, postOrEdit, settle } from '../../messages/post-or-edit.ts';
import type { PrepareDeps, Prepared } from '../../messages/prepare-post.ts';
import { storeMessage, type StoreMessageDeps } from '../../messages/messages.ts';

export type TestAlertDeps = StoreMessageDeps & {
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
};

/** Long enough to find again what may have arrived. */
const rememberMs = 86_400_000;

/**
 * Sends a test alert to a channel the way alerts go, through the outbox: one for each call. Durable once resolved;
 * throws StoreUnavailable. It is posted within ten minutes or not at all.
 */
export function createTestAlerts(deps: TestAlertDeps): (channel: string, askedBy: string) => Promise<void> {
  return async function sendTestAlert(channel, askedBy) {
    const key = outboxKey('test_alert', randomUUID());
    const body = { askedBy };
    const progress = { kind: 'waiting' } as const;
    await storeMessage(deps, key, { kind: 'test_alert', channel, body, progress, rememberMs });
    deps.wake();
  };
}

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
