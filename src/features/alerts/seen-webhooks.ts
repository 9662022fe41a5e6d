import { z } from 'zod';
import { createChangeRecord } from '../../records/change-record.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import { newestEventMs } from './event-log.ts';

/** When an event was kept last, and why a delivery was refused last; UTC ms. */
export type SeenWebhooks = { acceptedAtMs?: number; refused?: { atMs: number; why: string } };

const refusedKey = 'webhook-refused';
const refusal = z.object({ atMs: z.number(), why: z.string() });
const minuteMs = 60_000;
const weekMs = 7 * 86_400_000;

/** Remembers, for the doctor, why a delivery was refused: one a minute at most, as strangers may send them. Never throws. */
export function createRefusalMemory(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  log: Log,
): (atMs: number, why: () => string) => void {
  const changeRecord = createChangeRecord(store);
  let lastMs = -Infinity;
  return function remember(atMs, why) {
    if (atMs - lastMs < minuteMs) return;
    lastMs = atMs;
    const value = JSON.stringify({ atMs, why: why() });
    changeRecord(refusedKey, () => ({ kind: 'write', value, ttlMs: weekMs, result: undefined })).catch(
      (error: unknown) => log('debug', 'why a webhook was refused is not on record', {}, error),
    );
  };
}

export async function readSeenWebhooks(kept: {
  store: Pick<Store, 'read' | 'list'>;
  sealer: Sealer;
}): Promise<SeenWebhooks> {
  const [acceptedAtMs, entry] = await Promise.all([newestEventMs(kept), kept.store.read(refusedKey)]);
  return {
    ...(acceptedAtMs === undefined ? {} : { acceptedAtMs }),
    ...(entry && { refused: refusal.parse(JSON.parse(entry.value)) }),
  };
}
