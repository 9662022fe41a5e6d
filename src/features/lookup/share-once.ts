import type { PostOutcome } from '../../domain/delivery.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { createChangeRecord, type RecordStore } from '../../records/change-record.ts';

export type Shared =
  | { kind: 'shared'; channel: string; ts: string }
  /** Somebody pressed before, and it stands there. */
  | { kind: 'shared_before' }
  /** It may stand there, by this press or by one before that was cut off: it is not posted again. */
  | { kind: 'unsure' }
  /** Nothing was posted, and the next press tries again. */
  | { kind: 'busy' }
  | { kind: 'refused'; slackError: string; fix: string };

/**
 * Posts what a key stands for at most once, on all replicas: the claim is stored before anything leaves, and taken
 * back only when Slack surely has not posted it. Throws StoreUnavailable, and then nothing was posted.
 */
export type ShareOnce = (key: string, post: () => Promise<PostOutcome>) => Promise<Shared>;

const done = 'shared';
/** The button it is pressed with is gone long before. */
const rememberMs = 7 * 86_400_000;

export function createShareOnce({ store }: { store: RecordStore }): ShareOnce {
  const changeRecord = createChangeRecord(store);
  return async function shareOnce(name, post) {
    const key = `share:${name}`;
    if (!(await store.create(key, '', { ttlMs: rememberMs })))
      return { kind: (await store.read(key))?.value === done ? 'shared_before' : 'unsure' };
    const shared = sharedOf(await post());
    const keep = (value: string, ttlMs: number): Promise<void> =>
      changeRecord(key, () => ({ kind: 'write', value, ttlMs, result: undefined }));
    if (shared.kind === 'busy' || shared.kind === 'refused') await keep('', 0);
    // It stands there, whatever the store says to it: without this line the next press is told to look.
    if (shared.kind === 'shared') await keep(done, rememberMs).catch(ifAway);
    return shared;
  };
}

function ifAway(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
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
