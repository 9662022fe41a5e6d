import { domainOf, withLookUp } from '../../domain/alert-route.ts';
import { type Lookup, recordOf } from '../../domain/alert.ts';
import { listedEmail, listedText } from '../../domain/outside-text.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { openEvidence } from './alert-record.ts';
import { paymentKind } from './alert-recovery.ts';
import type { Log } from '../../log.ts';
import { alertKey, eventsList, openEvent, readMessageRecord } from '../../messages/message-record.ts';
import { pagesOf } from '../../records/change-record.ts';
import { sealingKeyFix } from '../../records/put-aside.ts';
import { isUnreadable, openRecord } from '../../records/records.ts';
import type { Entry, Store } from '../../store/store.ts';

/**
 * What is told of an event for a week: as much as routing and summaries ask of it, and no address, transaction or
 * card. Where the event itself is silent, what its look-up says of that very order, as its rules saw it.
 */
export type LoggedEvent = Pick<
  PaymentEvent,
  'kind' | 'orderReference' | 'customerId' | 'amountMinor' | 'currency' | 'reason' | 'isSavedCardCharge'
> & {
  /** The event's key, the same for every repeat of it. */
  id: string;
  receivedAtMs: number;
  emailDomain?: string;
  /** It saved a card, or was to. */
  savesCard?: true;
  /** What its look-up proved; absent: it was told nowhere, and nobody looked it up. */
  lookup?: Lookup['kind'];
};

export function loggedEvent(event: PaymentEvent, receivedAtMs: number, lookup?: Lookup): LoggedEvent {
  const known = lookup ? withLookUp(event, lookup) : event;
  const { kind, customerId, amountMinor, currency, reason, isSavedCardCharge } = known;
  return {
    kind,
    id: event.key,
    receivedAtMs,
    ...withoutUndefined({
      orderReference: listedText(event.orderReference ?? recordOf(lookup)?.orderReference),
      customerId: listedText(customerId),
      amountMinor,
      currency,
      reason: listedText(reason),
      isSavedCardCharge,
      emailDomain: domainOf(listedEmail(known.customerEmail)),
      savesCard: event.cardSaved ? (true as const) : undefined,
      lookup: lookup?.kind,
    }),
  };
}

/** The event again, as far as rules ask: of the customer's address the domain alone is true, of a saved card that there is one. */
export function eventAsLogged({ id, emailDomain, savesCard, ...logged }: LoggedEvent): PaymentEvent {
  const { receivedAtMs: _when, lookup: _found, ...event } = logged;
  return {
    ...event,
    key: id,
    ...(emailDomain === undefined ? {} : { customerEmail: `@${emailDomain}` }),
    ...(savesCard ? { cardSaved: { kind: 'no_token' } } : {}),
  };
}

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

/** What came within the last week, for rehearsals and summaries; see `LoggedEvent` for what is told of it. */
export type EventLog = {
  /**
   * The events received from the one time up to and without the other, oldest first, an hour (UTC) at a time, hours
   * without any left out. Those that cannot be opened are told in the log and left out. Throws StoreUnavailable.
   */
  between(fromMs: number, untilMs: number): AsyncGenerator<{ events: readonly LoggedEvent[] }>;
};

const hourMs = 3_600_000;

/** The events' own records, in one list by when they were received. */
export function createEventLog(deps: { store: Pick<Store, 'list'>; sealer: Sealer; log: Log }): EventLog {
  const { store, sealer, log } = deps;

  function openIfPossible(entry: Entry): LoggedEvent[] {
    try {
      const { event, receivedAtMs, lookup } = openKeptEvent(sealer, entry);
      return [loggedEvent(event, receivedAtMs, lookup)];
    } catch (error) {
      const about = { key: entry.key, fix: sealingKeyFix };
      log('error', 'an event of the last week cannot be read; it is left out', about, error);
      return [];
    }
  }

  return {
    async *between(fromMs, untilMs) {
      let hour: LoggedEvent[] = [];
      pages: for await (const entries of pagesOf(store, eventsList, { from: fromMs })) {
        for (const event of entries.flatMap(openIfPossible)) {
          if (event.receivedAtMs >= untilMs) break pages;
          const [first = event] = hour;
          if (hourOf(first) !== hourOf(event)) {
            yield { events: hour };
            hour = [];
          }
          hour.push(event);
        }
      }
      if (hour.length > 0) yield { events: hour };
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
    return newest && openKeptEvent(sealer, newest).receivedAtMs;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

function hourOf({ receivedAtMs }: LoggedEvent): number {
  return Math.floor(receivedAtMs / hourMs);
}
