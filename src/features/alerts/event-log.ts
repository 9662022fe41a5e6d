import { withLookUp } from './route-event.ts';
import type { Lookup } from '../../domain/alert.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import type { Sealer, Entry, Store } from '../../store/store.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { openEvidence } from './alert.ts';
import { eventKind, eventPrefix } from './event-case.ts';
import type { Log } from '../../log.ts';
import {
  alertKey,
  eventsList,
  refundsOf,
  keptBackBy,
  openEvent,
  readMessageRecord,
} from '../../messages/message-record.ts';
import { pagesOf } from '../../records/pages.ts';
import { unreadableFix } from '../../records/put-aside.ts';
import { ifReadable, openRecord } from '../../records/records.ts';
import { dayMs } from '../../domain/span.ts';

/** A stored event. Its record is an alert's message, or the payment case of a success that goes to no channel. */
export type StoredEvent = {
  event: PaymentEvent;
  receivedAtMs: number;
  /** A repeated event with another fingerprint is reported. */
  fingerprint?: string;
  /** The look-up that its message shows; absent: it was never looked up. */
  lookup?: Lookup;
  /** Shown by its charge's message or in an alert's thread, whatever the rules say. */
  byCharge?: true;
  /** The channels it was routed to; absent: none, or not routed yet. */
  channels?: readonly string[];
  /** A mute held it back from a channel. */
  isMuted?: true;
};

/** A stored event, completed by its look-up as the rules saw it. */
export type LoggedEvent = Omit<StoredEvent, 'lookup'> & { lookup?: Lookup['kind'] };

export async function findEvent(store: Pick<Store, 'read'>, key: string): Promise<Entry | undefined> {
  return (await store.read(alertKey(key))) ?? (await store.read(eventPrefix + key));
}

/** Undefined: a failure whose message is forgotten. Throws if the record can't be read. */
export function openStoredEvent(
  sealer: Sealer,
  entry: Pick<Entry, 'key' | 'value'>,
): StoredEvent | undefined {
  const { key, value } = entry;
  if (key.startsWith(eventPrefix)) {
    const { payment } = openRecord(sealer, eventKind, entry).state;
    if (!payment) return undefined;
    const { event, receivedAtMs, alone } = payment;
    return { event, receivedAtMs, ...withoutUndefined({ fingerprint: alone?.fingerprint }) };
  }
  const record = readMessageRecord(value);
  const { receivedAtMs, fingerprint, byCharge, routed, keptBy } = record;
  const channels = routed?.map(({ channel }) => channel);
  const lookup = openEvidence(sealer, key, record)?.lookup;
  const isMuted = keptBy && (true as const);
  return {
    event: openEvent(sealer, key, record),
    receivedAtMs,
    ...withoutUndefined({ fingerprint, lookup, byCharge, channels, isMuted }),
  };
}

const oncePerOrder = ['payment_failed', 'payment_success'] as const;
/** An order's refunds beyond these are not shown. */
const mostGivenBack = 20;

/** The events that sign this order's reference. Throws StoreUnavailable, or if a record can't be read. */
export async function eventsOfOrder(
  { store, sealer }: { store: Pick<Store, 'read' | 'list'>; sealer: Sealer },
  reference: string,
): Promise<StoredEvent[]> {
  const found = await Promise.all(
    oncePerOrder.map((kind) => findEvent(store, orderEventKey(kind, reference))),
  );
  const back = await store.list(refundsOf(reference), { max: mostGivenBack });
  return [...found, ...back.entries].flatMap((entry) => (entry && openStoredEvent(sealer, entry)) ?? []);
}

/** How far back rehearsals, summaries and mutes look. */
export const lookedBackMs = 7 * dayMs;

type EventStore = { store: Pick<Store, 'list'>; sealer: Sealer };

export type EventLog = ReturnType<typeof createEventLog>;

/** Reads stored events by the time they were received. */
export function createEventLog({ store, sealer, log }: EventStore & { log: Log }) {
  function openIfPossible(entry: Entry): LoggedEvent[] {
    try {
      const stored = openStoredEvent(sealer, entry);
      if (!stored) return [];
      const { lookup, ...logged } = stored;
      if (!lookup) return [logged];
      return [{ ...logged, event: withLookUp(logged.event, lookup), lookup: lookup.kind }];
    } catch (error) {
      const about = { key: entry.key, fix: unreadableFix(error) };
      log('error', 'an event of the last week cannot be read; it is left out', about, error);
      return [];
    }
  }

  return {
    /**
     * The events received since then, oldest first, in pages. Leaves out unreadable ones and logs them. Throws
     * StoreUnavailable.
     */
    async *since(fromMs: number): AsyncGenerator<readonly LoggedEvent[]> {
      for await (const entries of pagesOf(store, eventsList, { from: fromMs })) {
        yield entries.flatMap(openIfPossible);
      }
    },
    /** The events that a mute held back: their number, and the newest. Throws StoreUnavailable. */
    async keptBack(mute: string, max: number): Promise<{ count: number; newest: readonly LoggedEvent[] }> {
      let count = 0;
      for await (const entries of pagesOf(store, keptBackBy(mute))) count += entries.length;
      const { entries } = await store.list(keptBackBy(mute), { max, newestFirst: true });
      return { count, newest: entries.flatMap(openIfPossible) };
    },
  };
}

/** When the newest event was received (UTC ms); undefined: there is none, or it can't be read. */
export async function newestEventMs({ store, sealer }: EventStore): Promise<number | undefined> {
  const [newest] = (await store.list(eventsList, { max: 1, newestFirst: true })).entries;
  return newest && ifReadable(() => openStoredEvent(sealer, newest))?.receivedAtMs;
}
