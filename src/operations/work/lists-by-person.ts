import { z } from 'zod';
import { createChangeRecord, type RecordStore } from './change-record.ts';

/**
 * What is whose (charges, links, requests), since the store lists nothing. A superset of what exists: a reference is
 * added before what it names is stored, so one that nothing follows stays until it is old. All of it throws
 * StoreUnavailable when the store is away.
 */
export type ListsByPerson = {
  /** Never lost, however many replicas add at once. Again: nothing changes. */
  add(userId: string, reference: string): Promise<void>;
  /** Newest first: all that are unsettled, and at least the last twenty. */
  of(userId: string): Promise<readonly string[]>;
};

export type ListsByPersonDeps = {
  store: RecordStore;
  /** How the keys of these lists begin; a colon follows. */
  prefix: string;
  /** Whether nothing is left to do about it; true also when there is no such thing. */
  isSettled: (reference: string) => Promise<boolean>;
  now: () => number;
};

/** More than this many and the settled ones go, but for the newest. */
const roomFor = 60;
const newestKept = 20;
/** Once looked through, so many more may come before it is looked through again: each look asks about every one. */
const lookAgainAfter = 40;
/** Until then a reference that names nothing may be of something that is just being stored. */
const youngMs = 3_600_000;

/** `fullAt`: beyond this many entries it is looked through. `charges`, newest first: so stored, whatever they are. */
const listRecord = z.object({
  fullAt: z.number().int(),
  charges: z.array(z.object({ reference: z.string(), addedAt: z.number() })),
});

type List = z.infer<typeof listRecord>;

export function createListsByPerson(deps: ListsByPersonDeps): ListsByPerson {
  const { store, prefix, now } = deps;
  const keyOf = (userId: string): string => `${prefix}:${userId}`;
  const changeRecord = createChangeRecord(store);
  return {
    async add(userId, reference) {
      const key = keyOf(userId);
      const full = await changeRecord(key, (text) => {
        const known = readList(text);
        if (known.charges.some((one) => one.reference === reference)) {
          return { kind: 'keep', result: undefined };
        }
        const charges = [{ reference, addedAt: now() }, ...known.charges];
        const result = charges.length > known.fullAt ? charges : undefined;
        return { kind: 'write', value: writeList({ ...known, charges }), result };
      });
      if (!full) return;
      const gone = await findGone(deps, full);
      await changeRecord(key, (text) => {
        const charges = readList(text).charges.filter((one) => !gone.has(one.reference));
        const fullAt = Math.max(roomFor, charges.length + lookAgainAfter);
        return { kind: 'write', value: writeList({ fullAt, charges }), result: undefined };
      });
    },
    async of(userId) {
      const entry = await store.read(keyOf(userId));
      return readList(entry?.value).charges.map(({ reference }) => reference);
    },
  };
}

async function findGone({ isSettled, now }: ListsByPersonDeps, all: List['charges']): Promise<Set<string>> {
  const old = all.slice(newestKept).filter(({ addedAt }) => now() - addedAt >= youngMs);
  const settled = await Promise.all(old.map(({ reference }) => isSettled(reference)));
  return new Set(old.filter((_, index) => settled[index]).map(({ reference }) => reference));
}

function readList(text: string | undefined): List {
  return text === undefined ? { fullAt: roomFor, charges: [] } : listRecord.parse(JSON.parse(text));
}

function writeList(list: List): string {
  return JSON.stringify(list);
}
