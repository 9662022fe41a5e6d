import type { Store } from '../../store/store.ts';
import { blocksFrom, entriesOf, indexedKey, readBlock, readMarks, type AuditBlock } from './audit-blocks.ts';
import { keptReference, parseJson, sha256, type ChainedEntry } from './audit-line.ts';
import { createChangeRecord, type Change } from '../work/change-record.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type AuditIndexDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  keepMs: number | undefined;
};

/**
 * In which blocks a reference stands. The index follows the chain and proves nothing: what it has not reached yet is
 * read from the chain itself, so that an answer lacks nothing however far behind it is.
 */
export type AuditIndex = {
  /** Takes in the blocks that are not in it yet, whichever replica wrote them. Doing it twice is the same as once. */
  advance(): Promise<void>;
  entriesOf(reference: string): Promise<ChainedEntry[]>;
};

/** A reference that is asked about all day; the oldest are then found by an export alone. */
const mostBlocks = 5_000;
const blocksAtOnce = 8;
const readTogether = 16;

export function createAuditIndex(deps: AuditIndexDeps): AuditIndex {
  const { store, keepMs } = deps;
  const changeRecord = createChangeRecord(store);
  const kept = keepMs === undefined ? {} : { ttlMs: keepMs };

  function addBlocks(reference: string, numbers: readonly number[]): Promise<void> {
    return changeRecord(indexKey(reference), (value): Change<void> => {
      const before = readNumbers(value);
      const added = numbers.filter((number) => !before.includes(number));
      if (added.length === 0) return { kind: 'keep', result: undefined };
      const all = [...before, ...added].toSorted((a, b) => a - b).slice(-mostBlocks);
      return { kind: 'write', value: JSON.stringify(all), ...kept, result: undefined };
    });
  }

  async function take(blocks: readonly AuditBlock[]): Promise<void> {
    const numbers = new Map<string, Set<number>>();
    for (const block of blocks) {
      for (const { entry } of entriesOf(block)) {
        if (entry.reference === undefined) continue;
        const known = numbers.get(entry.reference);
        if (known) known.add(block.number);
        else numbers.set(entry.reference, new Set([block.number]));
      }
    }
    await Promise.all([...numbers].map(([reference, some]) => addBlocks(reference, [...some])));
    const upTo = blocks.at(-1)?.number ?? -1;
    await changeRecord(indexedKey, (value): Change<void> => {
      if (Number(value ?? -1) >= upTo) return { kind: 'keep', result: undefined };
      return { kind: 'write', value: String(upTo), result: undefined };
    });
  }

  /** The first block that the index may not hold. */
  async function firstMissing(): Promise<number> {
    const indexed = await store.read(indexedKey);
    if (indexed) return Number(indexed.value) + 1;
    const { stub } = await readMarks(deps);
    return (stub?.said?.block ?? -1) + 1;
  }

  return {
    async advance() {
      let some: AuditBlock[] = [];
      for await (const block of blocksFrom(deps, await firstMissing())) {
        some.push(block);
        if (some.length < blocksAtOnce) continue;
        await take(some);
        some = [];
      }
      if (some.length > 0) await take(some);
    },
    async entriesOf(asked) {
      const reference = keptReference(asked);
      // Read before the index: what it has taken in by then stands there.
      const from = await firstMissing();
      const known = readNumbers((await store.read(indexKey(reference)))?.value);
      const found: ChainedEntry[] = [];
      function add(block: AuditBlock): void {
        found.push(...entriesOf(block).filter(({ entry }) => entry.reference === reference));
      }
      const indexed = known.filter((number) => number < from);
      for (let at = 0; at < indexed.length; at += readTogether) {
        const some = indexed.slice(at, at + readTogether).map((number) => readBlock(deps, number));
        // oxlint-disable-next-line no-await-in-loop -- a few at a time
        for (const block of await Promise.all(some)) if (block) add(block);
      }
      for await (const block of blocksFrom(deps, from)) add(block);
      return found;
    },
  };
}

/** References come from outside and may hold anything; a hash keeps keys short and plain. */
function indexKey(reference: string): string {
  return `audit-of:${sha256(reference).slice(0, 32)}`;
}

function readNumbers(value: string | undefined): number[] {
  const read = value === undefined ? [] : parseJson(value);
  return Array.isArray(read) ? read.filter((one) => Number.isSafeInteger(one)) : [];
}
