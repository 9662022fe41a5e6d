import type { Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { alertKey } from '../outbox/outbox.ts';
import type { Work } from '../outbox/outbox-work.ts';
import type { AlertPostDeps } from './alert-post.ts';

/**
 * Puts the event into the log of its hour, unless its record says that it stands there; a copy for a further channel
 * is no further event. Without a look-up: nobody asked the service. Whoever finishes the record says `logged` there.
 */
export async function logOnce(
  deps: Pick<AlertPostDeps, 'logEvent'>,
  { entry, record }: Work,
  event: PaymentEvent,
  lookup: Lookup | undefined,
): Promise<void> {
  if (record.logged || record.posted || entry.key !== alertKey(event.key)) return;
  await deps.logEvent(event, record.receivedAtMs, lookup);
}
