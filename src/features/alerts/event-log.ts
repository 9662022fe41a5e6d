import { withLookUp } from './routing.ts';
import type { Lookup } from '../../domain/alert.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import type { Sealer, Entry, Store } from '../../store/store.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { eventPrefix, openEvidence } from './alert-record.ts';
import { eventKind } from './event-case.ts';
import type { Log } from '../../log.ts';
import {
  alertKey,
  eventsList,
  givenBackOf,
  keptBackBy,
  openEvent,
  readMessageRecord,
} from '../../messages/message-record.ts';
import { pagesOf } from '../../records/pages.ts';
import { sealingKeyFix } from '../../records/put-aside.ts';
import { isUnreadable, openRecord } from '../../records/records.ts';
import { dayMs } from '../../domain/span.ts';

/** An event of the last week; where it is silent itself, what its look-up says of that very order, as its rules saw it. */
export type LoggedEvent = {
  event: PaymentEvent;
  receivedAtMs: number;
  /** What its look-up proved; absent: it was told nowhere, and nobody looked it up. */
  lookup?: Lookup['kind'];
  /** Its own charge tells it: no rule does. */
  byCharge?: true;
};

/**
 * An event as it is remembered: by the message that is to tell it, or, as a success that no rule wants, by its payment alone.
 */
export type KeptEvent = {
  event: PaymentEvent;
  receivedAtMs: number;
  /** What a repeat must equal, lest it be told as different. */
  fingerprint?: string;
  /** The look-up that its post shows. */
  lookup?: Lookup;
  byCharge?: true;
};

/** The record that remembers the event of this key. */
export async function findKeptEvent(store: Pick<Store, 'read'>, key: string): Promise<Entry | undefined> {
  return (await store.read(alertKey(key))) ?? (await store.read(eventPrefix + key));
}

/** Undefined: a failure whose event is forgotten. Throws for what cannot be read. */
export function openKeptEvent(sealer: Sealer, entry: Pick<Entry, 'key' | 'value'>): KeptEvent | undefined {
  const { key, value } = entry;
  if (key.startsWith(eventPrefix)) {
    const { payment } = openRecord(sealer, eventKind, entry).state;
    if (!payment) return undefined;
    const { event, receivedAtMs, alone } = payment;
    return { event, receivedAtMs, ...withoutUndefined({ fingerprint: alone?.fingerprint }) };
  }
  const record = readMessageRecord(value);
  const { receivedAtMs, fingerprint, byCharge } = record;
  const lookup = openEvidence(sealer, key, record)?.lookup;
  return {
    event: openEvent(sealer, key, record),
    receivedAtMs,
    ...withoutUndefined({ fingerprint, lookup, byCharge }),
  };
}

const onceEach = ['payment_failed', 'payment_success'] as const;
/** Of more parts given back, only the first are shown. */
const mostGivenBack = 20;

/** The events that name this order under their signature. Throws StoreUnavailable, and for what cannot be read. */
export async function eventsOfOrder(
  { store, sealer }: { store: Pick<Store, 'read' | 'list'>; sealer: Sealer },
  reference: string,
): Promise<KeptEvent[]> {
  const found = await Promise.all(
    onceEach.map((kind) => findKeptEvent(store, orderEventKey(kind, reference))),
  );
  const back = await store.list(givenBackOf(reference), { max: mostGivenBack });
  return [...found, ...back.entries].flatMap((entry) => (entry && openKeptEvent(sealer, entry)) ?? []);
}

/** As far back as rehearsals, summaries and mutes look. */
export const lookedBackMs = 7 * dayMs;

export type EventLog = ReturnType<typeof createEventLog>;

/** The events' own records, in one list by when they were received. */
export function createEventLog({
  store,
  sealer,
  log,
}: {
  store: Pick<Store, 'list'>;
  sealer: Sealer;
  log: Log;
}) {
  function openIfPossible(entry: Entry): LoggedEvent[] {
    try {
      const kept = openKeptEvent(sealer, entry);
      if (!kept) return [];
      const { event, receivedAtMs, lookup, byCharge } = kept;
      const logged = { receivedAtMs, ...withoutUndefined({ byCharge }) };
      if (!lookup) return [{ event, ...logged }];
      return [{ event: withLookUp(event, lookup), ...logged, lookup: lookup.kind }];
    } catch (error) {
      const about = { key: entry.key, fix: sealingKeyFix };
      log('error', 'an event of the last week cannot be read; it is left out', about, error);
      return [];
    }
  }

  return {
    /**
     * The events received since then, oldest first, a page at a time. Those that cannot be opened are told in the log and
     * left out. Throws StoreUnavailable.
     */
    async *since(fromMs: number): AsyncGenerator<readonly LoggedEvent[]> {
      for await (const entries of pagesOf(store, eventsList, { from: fromMs })) {
        yield entries.flatMap(openIfPossible);
      }
    },
    /** What a mute kept from its channel: how many, and the newest of them. Throws StoreUnavailable. */
    async keptBack(mute: string, max: number): Promise<{ count: number; newest: readonly LoggedEvent[] }> {
      let count = 0;
      for await (const entries of pagesOf(store, keptBackBy(mute))) count += entries.length;
      const { entries } = await store.list(keptBackBy(mute), { max, newestFirst: true });
      return { count, newest: entries.flatMap(openIfPossible) };
    },
  };
}

/** When the newest event was received (UTC ms); undefined: none is known, or its sealing key is gone. */
export async function newestEventMs({
  store,
  sealer,
}: {
  store: Pick<Store, 'list'>;
  sealer: Sealer;
}): Promise<number | undefined> {
  const [newest] = (await store.list(eventsList, { max: 1, newestFirst: true })).entries;
  try {
    return newest && openKeptEvent(sealer, newest)?.receivedAtMs;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}
