import { createHash } from 'node:crypto';
import { z } from 'zod';
import { createChangeRecord, type RecordStore } from './change-record.ts';

/**
 * The references of all things of a kind that somebody has to see to, since the store lists nothing. All of it throws
 * StoreUnavailable.
 */
export type OpenList = {
  /** Called before what it names is stored, so that the list never lacks one. Again: nothing changes. */
  add(reference: string): Promise<void>;
  drop(references: readonly string[]): Promise<void>;
  /** With some among them that are over by now or were never stored. */
  all(): Promise<readonly string[]>;
};

/** Enough that what is begun at once seldom meets, few enough to read at each look. */
const parts = 16;
const list = z.array(z.string());

/** `prefix`: how the keys of its parts begin; a colon follows. */
export function createOpenList({ store, prefix }: { store: RecordStore; prefix: string }): OpenList {
  const changeRecord = createChangeRecord(store);
  const keyOf = (part: number): string => `${prefix}:${part}`;

  function change(key: string, edit: (references: string[]) => string[]): Promise<void> {
    return changeRecord(key, (text) => {
      const before = text === undefined ? [] : list.parse(JSON.parse(text));
      const after = edit(before);
      if (after.length === before.length) return { kind: 'keep', result: undefined };
      return { kind: 'write', value: JSON.stringify(after), result: undefined };
    });
  }

  return {
    add: (reference) =>
      change(keyOf(partOf(reference)), (references) =>
        references.includes(reference) ? references : [...references, reference],
      ),
    async drop(references) {
      const gone = new Set(references);
      const keys = [...new Set(references.map((reference) => keyOf(partOf(reference))))];
      await Promise.all(keys.map((key) => change(key, (all) => all.filter((one) => !gone.has(one)))));
    },
    async all() {
      const keys = Array.from({ length: parts }, (_, index) => keyOf(index));
      const entries = await Promise.all(keys.map((key) => store.read(key)));
      return entries.flatMap((entry) => (entry ? list.parse(JSON.parse(entry.value)) : []));
    },
  };
}

function partOf(reference: string): number {
  return (createHash('sha256').update(reference).digest()[0] ?? 0) % parts;
}
