import { randomUUID } from 'node:crypto';
import { messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages, type MessagesDeps } from '../../messages/messages.ts';

/** A test of one channel: who asked for it. */
export type TestAlertBodies = { test_alert: { askedBy: string } };

/** Long enough to find again what may have arrived. */
const rememberMs = 86_400_000;

/**
 * Sends a test alert to a channel the way alerts go, through the outbox: one for each call. Durable once resolved;
 * throws StoreUnavailable. It is posted within ten minutes or not at all.
 */
export function createTestAlerts(
  deps: Omit<MessagesDeps, 'rememberMs'>,
): (channel: string, askedBy: string) => Promise<void> {
  const messages: Messages<TestAlertBodies> = createMessages({ ...deps, rememberMs });
  return (channel, askedBy) =>
    messages.post(messageKey('test_alert', randomUUID()), { kind: 'test_alert', channel, body: { askedBy } });
}
