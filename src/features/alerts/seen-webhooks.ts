import { withoutUndefined } from '../../domain/json.ts';
import { createLastSeen, readLastSeen } from '../../records/last-seen.ts';
import type { Log } from '../../log.ts';
import type { Sealer, Store } from '../../store/store.ts';
import { newestEventMs } from './event-log.ts';

const refusedKey = 'webhook-refused';
const unknownKey = 'webhook-unknown';

/** Notes deliveries that are no known events, for the doctor: why the last was refused, or its unknown kind. */
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
