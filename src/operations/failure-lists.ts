import { z } from 'zod';
import type { Lookup } from '../domain/alert.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import { createChangeRecord, type RecordStore } from './change-record.ts';
import type { Fingerprint } from './fingerprint.ts';

/** A failure that a payment may make good: the id of its card, and when its event came. `lists` name where it stands. */
export type ListedFailure = { id: string; atMs: number; lists: readonly string[] };

/** The failures of each order and customer, under keyed hashes of both: the store has no listing. */
export type FailureLists = {
  /** Found from now on by every event that names the same order or customer. */
  add(event: PaymentEvent, lookup: Lookup, atMs: number): Promise<void>;
  find(event: PaymentEvent): Promise<readonly ListedFailure[]>;
  remove(failure: ListedFailure): Promise<void>;
};

export type FailureListsDeps = { store: RecordStore; fingerprint: Fingerprint; rememberMs: number };

const list = z.array(z.object({ id: z.string(), atMs: z.number() }));
type Listed = z.infer<typeof list>;

/** A customer who fails more often is known by the newest of it. */
const mostListed = 50;

export function createFailureLists({ store, fingerprint, rememberMs }: FailureListsDeps): FailureLists {
  const changeRecord = createChangeRecord(store);

  async function keysOf(terms: readonly string[]): Promise<string[]> {
    const keys = terms.map(async (one) => `failures-of:${await fingerprint(`\0failure\0${one}`)}`);
    return [...new Set(await Promise.all(keys))];
  }

  function change(key: string, edit: (listed: Listed) => Listed): Promise<void> {
    return changeRecord(key, (text) => {
      const before = text === undefined ? [] : list.parse(JSON.parse(text));
      const after = edit(before);
      if (after.length === before.length) return { kind: 'keep', result: undefined };
      const value = JSON.stringify(after.slice(0, mostListed));
      return { kind: 'write', value, ttlMs: rememberMs, result: undefined };
    });
  }

  return {
    async add(event, lookup, atMs) {
      const { key: id } = event;
      const keys = await keysOf([...termsOf(event), ...termsOfRecord(lookup)]);
      const added = keys.map((key) =>
        change(key, (listed) => (listed.some((one) => one.id === id) ? listed : [{ id, atMs }, ...listed])),
      );
      await Promise.all(added);
    },

    async find(event) {
      const entries = await Promise.all((await keysOf(termsOf(event))).map((key) => store.read(key)));
      const found = new Map<string, ListedFailure>();
      for (const entry of entries) {
        if (!entry) continue;
        for (const { id, atMs } of list.parse(JSON.parse(entry.value))) {
          found.set(id, { id, atMs, lists: [...(found.get(id)?.lists ?? []), entry.key] });
        }
      }
      return [...found.values()];
    },

    async remove({ id, lists }) {
      await Promise.all(lists.map((key) => change(key, (listed) => listed.filter((one) => one.id !== id))));
    },
  };
}

/** Whether the event names an order or a customer at all. */
export function isFindable(event: PaymentEvent): boolean {
  return termsOf(event).length > 0;
}

/** What an event names: its order, and its customer. */
function termsOf({ orderReference, customerId, customerEmail }: PaymentEvent): string[] {
  return [
    ...term('reference', orderReference),
    ...term('customer', customerId),
    ...term('email', customerEmail?.toLowerCase()),
  ];
}

/** What the service’s own record adds, where it is the record of this order. */
function termsOfRecord(lookup: Lookup): string[] {
  if (!('transaction' in lookup) || !lookup.evidence.reference.holds) return [];
  return term('email', lookup.transaction.customerEmail?.toLowerCase());
}

function term(what: string, text: string | undefined): string[] {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? [] : [`${what}\0${trimmed}`];
}
