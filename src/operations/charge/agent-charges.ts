import { z } from 'zod';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';

/**
 * Which charges are whose, since the store lists nothing. A superset of what exists: a reference is added before
 * its charge is created, so one that no charge follows stays until it is old. All of it throws StoreUnavailable
 * when the store is away.
 */
export type AgentCharges = {
  /** Never lost, however many replicas add at once. Again: nothing changes. */
  add(userId: string, reference: string): Promise<void>;
  /** Newest first: all that are unsettled, and at least the last twenty. */
  of(userId: string): Promise<readonly string[]>;
};

export type AgentChargesDeps = {
  store: RecordStore;
  /** Whether nothing is left to do about it; true also when no such charge exists. */
  isSettled: (reference: string) => Promise<boolean>;
  now: () => number;
  /** What the lists are of, as their keys begin; charges when absent. */
  prefix?: string;
};

/** More than this many and the settled ones go, but for the newest. */
const roomFor = 60;
const newestKept = 20;
/** Once looked through, so many more may come before it is looked through again: each look asks for every charge. */
const lookAgainAfter = 40;
/** Until then a reference without a charge may be one whose charge is just being created. */
const youngMs = 3_600_000;

/** `fullAt`: beyond this many entries it is looked through. Newest first. */
const chargesRecord = z.object({
  fullAt: z.number().int(),
  charges: z.array(z.object({ reference: z.string(), addedAt: z.number() })),
});

type Charges = z.infer<typeof chargesRecord>;

export function createAgentCharges(deps: AgentChargesDeps): AgentCharges {
  const { store, now, prefix = 'charges-of' } = deps;
  const keyOf = (userId: string): string => `${prefix}:${userId}`;
  const changeRecord = createChangeRecord(store);
  return {
    async add(userId, reference) {
      const key = keyOf(userId);
      const full = await changeRecord(key, (text) => {
        const known = readCharges(text);
        if (known.charges.some((charge) => charge.reference === reference)) {
          return { kind: 'keep', result: undefined };
        }
        const charges = [{ reference, addedAt: now() }, ...known.charges];
        const result = charges.length > known.fullAt ? charges : undefined;
        return { kind: 'write', value: writeCharges({ ...known, charges }), result };
      });
      if (!full) return;
      const gone = await findGone(deps, full);
      await changeRecord(key, (text) => {
        const charges = readCharges(text).charges.filter((charge) => !gone.has(charge.reference));
        const fullAt = Math.max(roomFor, charges.length + lookAgainAfter);
        return { kind: 'write', value: writeCharges({ fullAt, charges }), result: undefined };
      });
    },
    async of(userId) {
      const entry = await store.read(keyOf(userId));
      return readCharges(entry?.value).charges.map(({ reference }) => reference);
    },
  };
}

async function findGone(deps: AgentChargesDeps, charges: Charges['charges']): Promise<Set<string>> {
  const { isSettled, now } = deps;
  const old = charges.slice(newestKept).filter(({ addedAt }) => now() - addedAt >= youngMs);
  const settled = await Promise.all(old.map(({ reference }) => isSettled(reference)));
  return new Set(old.filter((_, index) => settled[index]).map(({ reference }) => reference));
}

function readCharges(text: string | undefined): Charges {
  return text === undefined ? { fullAt: roomFor, charges: [] } : chargesRecord.parse(JSON.parse(text));
}

function writeCharges(charges: Charges): string {
  return JSON.stringify(charges);
}
