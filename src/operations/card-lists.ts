import { setTimeout as pass } from 'node:timers/promises';
import { z } from 'zod';
import { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Entry, Store } from '../store/store.ts';
import type { Sealer } from './outbox.ts';

export type CardLists = {
  /** When it resolves the card stands at the head of the list, on every replica. */
  add(key: string, id: string, most: number): Promise<void>;
  /** When it resolves the card stood off the list, on every replica; somebody may have added it again since. */
  remove(key: string, id: string): Promise<void>;
  /** Newest first; empty when nothing was ever added. Throws when the list's sealing key is not here. */
  read(key: string): Promise<readonly string[]>;
};

const storedIds = z.array(z.string());
/** Each lost swap is another replica's success, so this many in a row mean that something else is wrong. */
const mostTries = 100;
const longestPauseMs = 40;

/**
 * Lists of card ids in the store, sealed, newest first, in place of the listing that the store does not have.
 * No addition is lost, however many replicas add at once: each is a compare-and-swap, repeated after a random
 * pause; and what one process adds to one list meanwhile goes along in one write.
 */
export function createCardLists(store: Pick<Store, 'create' | 'read' | 'write'>, sealer: Sealer): CardLists {
  const gathering = new Map<string, { ids: Set<string>; done: Promise<void> }>();
  const lastOf = new Map<string, Promise<void>>();

  function open(entry: Entry | undefined): readonly string[] {
    return entry ? storedIds.parse(JSON.parse(sealer.open(entry.key, entry.value))) : [];
  }

  function openIfPossible(entry: Entry | undefined): readonly string[] {
    try {
      return open(entry);
    } catch {
      // Sealed with a key that is gone: begun anew, because a list that can never be added to would refuse
      // the payments service's deliveries for ever.
      return [];
    }
  }

  function merge(key: string, added: readonly string[], most: number): Promise<void> {
    return change(key, (before) => {
      const isAhead = added.every((id, index) => before[index] === id);
      return isAhead ? undefined : [...new Set([...added, ...before])].slice(0, most);
    });
  }

  /** Undefined: the list stays as it is. */
  async function change(
    key: string,
    edit: (before: readonly string[]) => readonly string[] | undefined,
  ): Promise<void> {
    for (let attempt = 1; attempt <= mostTries; attempt += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one try after the other is the point
      const entry = await store.read(key);
      const ids = edit(openIfPossible(entry));
      if (!ids) return;
      const value = sealer.seal(key, JSON.stringify(ids));
      // oxlint-disable-next-line no-await-in-loop
      if (entry ? await store.write(entry, value) : await store.create(key, value)) return;
      // oxlint-disable-next-line no-await-in-loop
      await pass(Math.random() * Math.min(longestPauseMs, 2 ** attempt));
    }
    throw new StoreUnavailable(`a list of cards was changed ${mostTries} times while it was written`);
  }

  return {
    add(key, id, most) {
      const gathered = gathering.get(key);
      if (gathered) {
        gathered.ids.add(id);
        return gathered.done;
      }
      const ids = new Set([id]);
      const done = (lastOf.get(key) ?? Promise.resolve()).then(() => {
        gathering.delete(key);
        return merge(key, [...ids].toReversed(), most);
      });
      gathering.set(key, { ids, done });
      // Whoever comes next waits for the end, whatever it is; who added hears of the failure.
      const ended = done.then(nothing, nothing);
      lastOf.set(key, ended);
      void ended.finally(() => {
        if (lastOf.get(key) === ended) lastOf.delete(key);
      });
      return done;
    },
    remove: (key, id) =>
      change(key, (before) => (before.includes(id) ? before.filter((one) => one !== id) : undefined)),
    async read(key) {
      return open(await store.read(key));
    },
  };
}

function nothing(): void {
  return undefined;
}
