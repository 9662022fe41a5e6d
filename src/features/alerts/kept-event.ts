import type { Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { alertKey, openEvent, readMessageRecord } from '../../messages/message-record.ts';
import { openRecord } from '../../records/records.ts';
import type { Entry, Store } from '../../store/store.ts';
import { openEvidence } from './alert-record.ts';
import { paymentKind } from './alert-recovery.ts';

/** An event as it is remembered: by the message that is to tell it, or, as a success that no rule wants, by its payment alone. */
export type KeptEvent = {
  event: PaymentEvent;
  receivedAtMs: number;
  /** What a repeat must equal, lest it be told as different. */
  fingerprint?: string;
  /** What its post was told by. */
  lookup?: Lookup;
};

/** The record that remembers the event of this key. */
export async function findKeptEvent(store: Pick<Store, 'read'>, key: string): Promise<Entry | undefined> {
  return (await store.read(alertKey(key))) ?? (await store.read(paymentKind.prefix + key));
}

/** Throws for what cannot be read. */
export function openKeptEvent(sealer: Sealer, entry: Pick<Entry, 'key' | 'value'>): KeptEvent {
  const { key, value } = entry;
  if (key.startsWith(paymentKind.prefix)) {
    const { event, receivedAtMs, alone } = openRecord(sealer, paymentKind, entry);
    return { event, receivedAtMs, ...alone };
  }
  const record = readMessageRecord(value);
  const { receivedAtMs, fingerprint } = record;
  const lookup = openEvidence(sealer, key, record)?.lookup;
  return {
    event: openEvent(sealer, key, record),
    receivedAtMs,
    ...withoutUndefined({ fingerprint, lookup }),
  };
}
