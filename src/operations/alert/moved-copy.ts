import type { Destination } from '../../domain/alert-route.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { alertKey, isMessage, readOutboxRecord } from '../outbox/outbox.ts';
import { again, hold, markStale, type Work } from '../outbox/outbox-work.ts';
import { settle } from '../outbox/post-or-edit.ts';
import type { Prepared } from '../outbox/prepare-post.ts';
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
    // One of them may be there already, left to others when the rules were different: it is to be told after all.
    await Promise.all(routed.map((one) => markStale(deps.store, alertKey(event.key, one.channel))));
  }
  deps.log('info', 'not delivered again: no rule names its channel any more', { key: entry.key, channel });
  return true;
}

/** Done without a message, and so that `markStale` makes it work again: that needs a progress, which payments lack. */
export async function leaveToOthers(deps: AlertPostDeps, work: Work): Promise<Prepared> {
  const { leaseMs } = deps;
  const held = work.record.progress
    ? work
    : await hold(deps, work, { progress: { kind: 'leaving', leaseMs } }, leaseMs);
  if (held) return await settle(deps, held);
  await again(deps, work, {}, { holdMs: 0 });
  return { kind: 'settled' };
}

async function hasCopy({ store }: AlertPostDeps, event: PaymentEvent, channel: string): Promise<boolean> {
  return (await store.read(alertKey(event.key, channel))) !== undefined;
}
