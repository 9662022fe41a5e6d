import type { Store } from '../../store/store.ts';
import { writeOutboxRecord, type OutboxRecord } from './outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { KindWithBody } from './outbox-bodies.ts';

export type StoreMessageDeps = { store: Pick<Store, 'create'>; sealer: Sealer; now: () => number };

/** `body` is sealed. `lane`: that of the channel when none is given. `progress`: only of what is edited after it was posted. */
export type Message = KindWithBody &
  Pick<OutboxRecord, 'channel' | 'progress' | 'rememberMs'> & { lane?: string };

/** Stores a message of ours as work that is due, once per key. False: it is there already. Throws StoreUnavailable. */
export function storeMessage(
  { store, sealer, now }: StoreMessageDeps,
  key: string,
  { body, lane, ...message }: Message,
): Promise<boolean> {
  const record = writeOutboxRecord({
    ...message,
    fingerprint: '',
    receivedAtMs: now(),
    sealed: sealer.seal(key, JSON.stringify(body)),
    misses: 0,
  });
  return store.create(key, record, { delayMs: 0, lane: lane ?? message.channel });
}
