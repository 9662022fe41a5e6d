import type { PostOutcome } from '../domain/delivery.ts';
import { createChangeRecord, type RecordStore } from './change-record.ts';

export type Shared =
  | { kind: 'shared'; channel: string; ts: string }
  /** Somebody pressed before, and it stands there; or a press before was cut off, and it may. */
  | { kind: 'shared_before' }
  /** It may stand there: it is not posted again. */
  | { kind: 'unsure' }
  /** Nothing was posted, and the next press tries again. */
  | { kind: 'busy' }
  | { kind: 'refused'; slackError: string; fix: string };

/**
 * Posts what a key stands for at most once, on all replicas: the claim is stored before anything leaves, and taken
 * back only when Slack surely has not posted it. Throws StoreUnavailable, and then nothing was posted.
 */
export type ShareOnce = (key: string, post: () => Promise<PostOutcome>) => Promise<Shared>;

const claimed = 'claimed';
const free = 'free';
/** The button it is pressed with is gone long before. */
const rememberMs = 7 * 86_400_000;

export function createShareOnce({ store }: { store: RecordStore }): ShareOnce {
  const changeRecord = createChangeRecord(store);
  return async function shareOnce(name, post) {
    const key = `share:${name}`;
    const isOurs = await changeRecord(key, (value) =>
      value === claimed
        ? { kind: 'keep', result: false }
        : { kind: 'write', value: claimed, ttlMs: rememberMs, result: true },
    );
    if (!isOurs) return { kind: 'shared_before' };
    const outcome = await post();
    const shared = sharedOf(outcome);
    if (shared.kind === 'busy' || shared.kind === 'refused') {
      await changeRecord(key, () => ({ kind: 'write', value: free, ttlMs: rememberMs, result: undefined }));
    }
    return shared;
  };
}

function sharedOf(outcome: PostOutcome): Shared {
  switch (outcome.kind) {
    case 'posted':
      return { kind: 'shared', channel: outcome.channel, ts: outcome.ts };
    case 'unsure':
      return { kind: 'unsure' };
    case 'refused':
      return { kind: 'refused', slackError: outcome.slackError, fix: outcome.fix };
    case 'gone':
    case 'not_sent':
    case 'rate_limited':
      return { kind: 'busy' };
  }
}
