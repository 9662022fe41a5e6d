import { randomUUID } from 'node:crypto';
import type { Store } from '../store/store.ts';
import { outboxKey, writeOutboxRecord, type Sealer, type TestAlertBody } from './outbox.ts';

export type TestAlertDeps = {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
  now: () => number;
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
    const body: TestAlertBody = { askedBy };
    const record = writeOutboxRecord({
      kind: 'test_alert',
      channel,
      fingerprint: '',
      receivedAtMs: deps.now(),
      sealed: deps.sealer.seal(key, JSON.stringify(body)),
      misses: 0,
      progress: { kind: 'waiting' },
      rememberMs,
    });
    await deps.store.create(key, record, { delayMs: 0, lane: channel });
    deps.wake();
  };
}
