import { z } from 'zod';
import { recordOfOrder, type Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Store } from '../../store/store.ts';
import { createChangeRecord, type RecordStore } from '../../records/change-record.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';

/** What two events may have in common: the order, the customer by id or address, or the card as the bot knows it. */
export type Term = { what: 'reference' | 'customer' | 'email' | 'card'; text: string };

/** An event that has a term in common: its key, when it came, and by which terms it was found. */
export type ListedEvent = { id: string; atMs: number; by: readonly Term[] };

/** The events of each order, customer and card, under keyed hashes of those. */
export type EventLists = {
  /** Found from now on by every event that has one of the terms. Throws StoreUnavailable, as all of it. */
  add(terms: readonly Term[], event: { id: string; atMs: number }): Promise<void>;
  /** Of each term the newest. */
  find(terms: readonly Term[]): Promise<readonly ListedEvent[]>;
  /** Found no more. */
  remove(id: string): Promise<void>;
};

export type EventListsDeps = {
  store: RecordStore & Pick<Store, 'list'>;
  fingerprint: Fingerprint;
  rememberMs: number;
};

/** The terms of one event, as the lists that its record is in. */
const listed = z.object({ atMs: z.number(), lists: z.array(z.string()) });

/** A customer who has more is known by the newest of it. */
const mostFound = 50;

/** One kind of event has lists of its own. */
export function createEventLists(
  { store, fingerprint, rememberMs }: EventListsDeps,
  kind: 'failures' | 'payments',
): EventLists {
  const changeRecord = createChangeRecord(store);
  const prefix = `${kind}:`;

  async function listOf({ what, text }: Term): Promise<string> {
    return `${kind}-of:${await fingerprint(`\0failure\0${what}\0${text}`)}`;
  }

  return {
    async add(terms, { id, atMs }) {
      if (terms.length === 0) return;
      const added = await Promise.all(terms.map(listOf));
      await changeRecord(prefix + id, (text) => {
        const before = text === undefined ? { atMs, lists: [] } : read(text);
        const lists = [...new Set([...before.lists, ...added])];
        if (lists.length === before.lists.length) return { kind: 'keep', result: undefined };
        const value = JSON.stringify({ ...before, lists });
        const index = Object.fromEntries(lists.map((list) => [list, before.atMs]));
        return { kind: 'write', value, ttlMs: rememberMs, index, result: undefined };
      });
    },

    async find(terms) {
      const found = new Map<string, ListedEvent>();
      await Promise.all(
        terms.map(async (term) => {
          const { entries } = await store.list(await listOf(term), { max: mostFound, newestFirst: true });
          for (const { key, value } of entries) {
            const id = key.slice(prefix.length);
            found.set(id, { id, atMs: read(value).atMs, by: [...(found.get(id)?.by ?? []), term] });
          }
        }),
      );
      return [...found.values()];
    },

    remove: (id) =>
      changeRecord(prefix + id, (text) =>
        text === undefined
          ? { kind: 'keep', result: undefined }
          : { kind: 'write', value: '', ttlMs: 0, index: {}, result: undefined },
      ),
  };
}

function read(text: string): z.infer<typeof listed> {
  return listed.parse(JSON.parse(text));
}

/** What an event names itself: its order, and its customer. */
export function termsOf({ orderReference, customerId, customerEmail }: PaymentEvent): Term[] {
  return [
    ...term('reference', orderReference),
    ...term('customer', customerId),
    ...term('email', customerEmail?.toLowerCase()),
  ];
}

/** What the service’s own record adds, where it is the record of this order: the order too, which the event need not name. */
export function termsOfRecord(lookup: Lookup): Term[] {
  const { orderReference, customerEmail } = recordOfOrder(lookup) ?? {};
  return [...term('reference', orderReference), ...term('email', customerEmail?.toLowerCase())];
}

/** Each once; none for a text that says nothing. */
export function distinct(terms: readonly Term[]): Term[] {
  return terms.filter(
    ({ what, text }, index) => terms.findIndex((one) => one.what === what && one.text === text) === index,
  );
}

export function term(what: Term['what'], text: string | undefined): Term[] {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? [] : [{ what, text: trimmed }];
}
