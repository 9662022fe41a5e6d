import { randomUUID } from 'node:crypto';
import { outboxKey } from '../../messages/outbox.ts';
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
    await storeMessage(deps, key, { kind: 'test_alert', channel, body, rememberMs });
    deps.wake();
  };
}
