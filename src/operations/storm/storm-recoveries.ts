import { z } from 'zod';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';
import { shortName } from './storm-records.ts';

/** How many of a storm were made good. All of it throws StoreUnavailable. */
export type StormRecoveries = {
  /**
   * Counted once, whenever it is added again: the cards of a storm are told side by side, so after a kill one of
   * them comes again when thousands of the others have come since.
   */
  add(storm: string, id: string): Promise<void>;
  count(storm: string): Promise<number>;
};

/** Few enough to read at each look, and enough that ten thousand make no record that is long to write. */
const parts = 16;
const names = z.array(z.string());

export function createStormRecoveries(deps: { store: RecordStore; rememberMs: number }): StormRecoveries {
  const { store, rememberMs: ttlMs } = deps;
  const changeRecord = createChangeRecord(store);

  return {
    async add(storm, id) {
      const name = shortName(id);
      await changeRecord(keyOf(storm, name.charCodeAt(0) % parts), (value) => {
        const known = value === undefined ? [] : names.parse(JSON.parse(value));
        if (known.includes(name)) return { kind: 'keep', result: undefined };
        return { kind: 'write', value: JSON.stringify([...known, name]), ttlMs, result: undefined };
      });
    },

    async count(storm) {
      const keys = Array.from({ length: parts }, (_, part) => keyOf(storm, part));
      const entries = await Promise.all(keys.map((key) => store.read(key)));
      const counts = entries.map((entry) => (entry ? names.parse(JSON.parse(entry.value)).length : 0));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

function keyOf(storm: string, part: number): string {
  return `storm-recovered:${storm}#${part}`;
}
