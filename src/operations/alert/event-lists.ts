import { z } from 'zod';
import { recordOfOrder, type Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';
import type { Fingerprint } from '../work/fingerprint.ts';

/** What two events may have in common: the order, the customer by id or address, or the card as the bot knows it. */
export type Term = { what: 'reference' | 'customer' | 'email' | 'card'; text: string };

/** An event that has a term in common: its key, when it came, and by which terms it was found. */
export type ListedEvent = { id: string; atMs: number; by: readonly Term[] };

/** The events of each order, customer and card, under keyed hashes of those. */
export type EventLists = {
  /** Found from now on by every event that has one of the terms. Throws StoreUnavailable, as all of it. */
  add(terms: readonly Term[], event: { id: string; atMs: number }): Promise<void>;
  find(terms: readonly Term[]): Promise<readonly ListedEvent[]>;
  /** No longer found by the terms by which it was found. */
  remove(event: ListedEvent): Promise<void>;
};

export type EventListsDeps = { store: RecordStore; fingerprint: Fingerprint; rememberMs: number };

const list = z.array(z.object({ id: z.string(), atMs: z.number() }));
type Listed = z.infer<typeof list>;

/** A customer who has more is known by the newest of it. */
const mostListed = 50;

/** One kind of event has lists of its own. */
export function createEventLists(
  { store, fingerprint, rememberMs }: EventListsDeps,
  kind: 'failures' | 'payments',
): EventLists {
  const changeRecord = createChangeRecord(store);

  async function keyOf({ what, text }: Term): Promise<string> {
    return `${kind}-of:${await fingerprint(`\0failure\0${what}\0${text}`)}`;
  }

  async function change(term: Term, edit: (listed: Listed) => Listed): Promise<void> {
    await changeRecord(await keyOf(term), (text) => {
      const before = text === undefined ? [] : list.parse(JSON.parse(text));
      const after = edit(before);
      if (after.length === before.length) return { kind: 'keep', result: undefined };
      const value = JSON.stringify(after.slice(0, mostListed));
      return { kind: 'write', value, ttlMs: rememberMs, result: undefined };
    });
  }

  return {
    async add(terms, { id, atMs }) {
      const added = terms.map((term) =>
        change(term, (listed) => (listed.some((one) => one.id === id) ? listed : [{ id, atMs }, ...listed])),
      );
      await Promise.all(added);
    },

    async find(terms) {
      const lists = await Promise.all(
        terms.map(async (term) => ({ term, entry: await store.read(await keyOf(term)) })),
      );
      const found = new Map<string, ListedEvent>();
      for (const { term, entry } of lists) {
        if (!entry) continue;
        for (const { id, atMs } of list.parse(JSON.parse(entry.value))) {
          found.set(id, { id, atMs, by: [...(found.get(id)?.by ?? []), term] });
        }
      }
      return [...found.values()];
    },

    async remove({ id, by }) {
      await Promise.all(by.map((term) => change(term, (listed) => listed.filter((one) => one.id !== id))));
    },
  };
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
