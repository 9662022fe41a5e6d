import { withoutUndefined } from '../../domain/json.ts';
import { createLastSeen, readLastSeen } from '../../records/last-seen.ts';
import type { Log } from '../../log.ts';
import type { Sealer, Store } from '../../store/store.ts';
import { newestEventMs } from './event-log.ts';

const refusedKey = 'webhook-refused';
const unknownKey = 'webhook-unknown';

/** Stores for the doctor why the last delivery was refused, and the last unknown event kind. */
export function createSeenWebhooks(store: Pick<Store, 'create' | 'read' | 'write'>, log: Log) {
  return {
    refused: createLastSeen(store, refusedKey, log),
    unknown: createLastSeen(store, unknownKey, log),
  };
}

/** When the last event was received (UTC ms), and the last refused and unknown delivery. */
export async function readSeenWebhooks(kept: { store: Pick<Store, 'read' | 'list'>; sealer: Sealer }) {
  const [acceptedAtMs, refused, unknown] = await Promise.all([
    newestEventMs(kept),
    readLastSeen(kept.store, refusedKey),
    readLastSeen(kept.store, unknownKey),
  ]);
  return withoutUndefined({ acceptedAtMs, refused, unknown });
}
