import { withoutUndefined } from '../../domain/json.ts';
import { createLastSeen, readLastSeen } from '../../records/last-seen.ts';
import type { Log } from '../../log.ts';
import type { Sealer, Store } from '../../store/store.ts';
import { newestEventMs } from './event-log.ts';

const refusedKey = 'webhook-refused';
const unknownKey = 'webhook-unknown';

/** What the doctor is told of deliveries that are no events: why one was refused, and of which kind nobody knows one was. */
export function createSeenWebhooks(store: Pick<Store, 'create' | 'read' | 'write'>, log: Log) {
  return {
    refused: createLastSeen(store, refusedKey, log),
    unknown: createLastSeen(store, unknownKey, log),
  };
}

/** When an event was kept last, and what else came last; UTC ms. */
export async function readSeenWebhooks(kept: { store: Pick<Store, 'read' | 'list'>; sealer: Sealer }) {
  const [acceptedAtMs, refused, unknown] = await Promise.all([
    newestEventMs(kept),
    readLastSeen(kept.store, refusedKey),
    readLastSeen(kept.store, unknownKey),
  ]);
  return withoutUndefined({ acceptedAtMs, refused, unknown });
}
