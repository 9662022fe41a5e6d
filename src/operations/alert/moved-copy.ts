import type { Destination } from '../../domain/alert-route.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { alertKey, isMessage, readOutboxRecord } from '../outbox/outbox.ts';
import type { Work } from '../outbox/outbox-work.ts';
import type { AlertPostDeps } from './alert-post.ts';
import { storeCopies } from './route-event.ts';

/**
 * Whether a message of an event need not be told, because others tell it.
 *
 * The event's own, where a copy goes to its channel: the copies were stored under older rules, and then the bot
 * was killed before the event was received.
 *
 * A copy that was given up and is to be delivered again: no rule names its channel any more,
 * and the event has a message elsewhere, or is given one here in each channel that the rules name now. Without that
 * whoever does what the fix says, and sets another channel, would send it to the dead one for ever.
 */
export async function isToldElsewhere(
  deps: AlertPostDeps,
  { entry, record }: Work,
  event: PaymentEvent,
  routed: readonly Destination[],
): Promise<boolean> {
  const { channel, fingerprint, receivedAtMs } = record;
  if (record.posted) return false;
  if (entry.key === alertKey(event.key)) return await hasCopy(deps, event, channel);
  if (!record.redriven) return false;
  if (routed.some((one) => one.channel === channel)) return false;
  const own = await deps.store.read(alertKey(event.key));
  // Forgotten: nobody knows any more where else it was told.
  if (!own) return false;
  if (!isMessage(readOutboxRecord(own.value))) {
    if (routed.length === 0) return false;
    await storeCopies(deps, { event, fingerprint, receivedAtMs }, routed);
  }
  deps.log('info', 'not delivered again: no rule names its channel any more', { key: entry.key, channel });
  return true;
}

async function hasCopy({ store }: AlertPostDeps, event: PaymentEvent, channel: string): Promise<boolean> {
  return (await store.read(alertKey(event.key, channel))) !== undefined;
}
