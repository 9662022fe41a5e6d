import { z } from 'zod';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type CardLists = {
  /** When it resolves the card stands at the head of the list, on every replica. */
  add(key: string, id: string, most: number): Promise<void>;
  /** When it resolves the card stood off the list, on every replica; somebody may have added it again since. */
  remove(key: string, id: string): Promise<void>;
  /** Newest first; empty when nothing was ever added. Throws when the list's sealing key is not here. */
  read(key: string): Promise<readonly string[]>;
};

const storedIds = z.array(z.string());

/**
 * Lists of card ids in the store, sealed, newest first, in place of the listing that the store does not have.
 * No addition is lost, however many replicas add at once: each is a compare-and-swap, repeated after a random
 * pause; and what one process adds to one list meanwhile goes along in one write.
 */
export function createCardLists(store: RecordStore, sealer: Sealer): CardLists {
  const gathering = new Map<string, { ids: Set<string>; done: Promise<void> }>();
  const lastOf = new Map<string, Promise<void>>();

  const changeRecord = createChangeRecord(store);

  function open(key: string, text: string | undefined): readonly string[] {
    return text === undefined ? [] : storedIds.parse(JSON.parse(sealer.open(key, text)));
  }

  function openIfPossible(key: string, text: string | undefined): readonly string[] {
    try {
      return open(key, text);
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
  function change(
    key: string,
    edit: (before: readonly string[]) => readonly string[] | undefined,
  ): Promise<void> {
    return changeRecord(key, (text) => {
      const ids = edit(openIfPossible(key, text));
      if (!ids) return { kind: 'keep', result: undefined };
      return { kind: 'write', value: sealer.seal(key, JSON.stringify(ids)), result: undefined };
    });
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
      return open(key, (await store.read(key))?.value);
    },
  };
}

function nothing(): void {
  return undefined;
}
