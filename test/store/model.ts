import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { CreateOptions, Entry, ListOptions, Store, WriteOptions } from '../../src/store/store.ts';
import { openModelStore } from './model-store.ts';

export type ModelledStore = {
  store: Store;
  setClock: (ms: number) => void;
  clear: () => Promise<void>;
};

type Step =
  | { do: 'create'; key: string; options: CreateOptions }
  | { do: 'read'; key: string }
  | { do: 'write'; pick: number; options: WriteOptions }
  | { do: 'take'; leaseMs: number; max: number; lanes: string }
  | { do: 'list'; name: string; max: number; newestFirst: boolean }
  | { do: 'pass'; ms: number };

/**
 * Runs random command sequences on the store and on the model, and compares every answer. Throws the shortest sequence
 * with a difference. The test moves the clock of both. `ttl: false` leaves out expiry, for a store whose expiry uses
 * another clock.
 */
export async function compareWithModel(
  subject: ModelledStore,
  { ttl, runs }: { ttl: boolean; runs: number },
): Promise<void> {
  const property = fc.asyncProperty(fc.array(steps(ttl), { maxLength: 80 }), async (script) => {
    await subject.clear();
    await carryOut(subject, script);
  });
  await fc.assert(property, { numRuns: runs });
}

// Delays are whole seconds, and each command takes a millisecond, so that no two records are due at the same moment:
// their order is not defined.
const span = fc.constantFrom(0, 1000, 2000, 5000, 20_000);

function steps(ttl: boolean): fc.Arbitrary<Step> {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const lane = fc.constantFrom('x', 'y');
  const name = fc.constantFrom('open', 'all');
  const index = fc.dictionary(name, fc.integer({ min: 0, max: 3 }));
  const memory = fc.record({ index, ...(ttl && { ttlMs: span }) }, { requiredKeys: [] });
  const work = fc.record({ delayMs: span, lane, index }, { requiredKeys: ['delayMs'] });
  const again = fc.record({ delayMs: span, pauseMs: span, lane, index }, { requiredKeys: [] });
  const finished = fc.record(
    { pauseMs: span, lane, index, ...(ttl && { ttlMs: span }) },
    { requiredKeys: [] },
  );
  const held = fc.record({ holdMs: span });
  return fc.oneof(
    { weight: 4, arbitrary: step('create', { key, options: fc.oneof(work, work, memory) }) },
    { weight: 1, arbitrary: step('read', { key }) },
    { weight: 4, arbitrary: step('write', { pick: fc.nat(7), options: fc.oneof(again, finished, held) }) },
    {
      weight: 4,
      arbitrary: step('take', {
        leaseMs: span.map((ms) => ms + 1000),
        max: fc.integer({ min: 1, max: 3 }),
        lanes: fc.constantFrom('', 'x'),
      }),
    },
    {
      weight: 2,
      arbitrary: step('list', { name, max: fc.integer({ min: 1, max: 3 }), newestFirst: fc.boolean() }),
    },
    { weight: 3, arbitrary: step('pass', { ms: span }) },
  );
}

function step<Do extends Step['do'], T extends object>(
  name: Do,
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<T & { do: Do }> {
  return fc.record(fields).map((values) => ({ ...(values as T), do: name }));
}

async function carryOut({ store, setClock }: ModelledStore, script: readonly Step[]): Promise<void> {
  let clock = 1_700_000_000_000;
  setClock(clock);
  const model = openModelStore(() => clock);
  /** The entries that both returned, newest first: writes choose among fresh and outdated ones. */
  const seen: { expected: Entry; actual: Entry }[] = [];

  function compare(expected: readonly Entry[], actual: readonly Entry[]): void {
    expect(actual.map(withoutVersion)).toEqual(expected.map(withoutVersion));
    for (const [index, entry] of expected.entries()) {
      seen.unshift({ expected: entry, actual: actual[index] ?? entry });
    }
  }
  async function createOnBoth(key: string, options: CreateOptions): Promise<void> {
    expect(await store.create(key, 'new', options)).toBe(await model.create(key, 'new', options));
  }
  async function readBoth(key: string): Promise<void> {
    const [expected, actual] = [await model.read(key), await store.read(key)];
    compare(expected ? [expected] : [], actual ? [actual] : []);
  }
  async function writeBoth(pick: number, options: WriteOptions): Promise<void> {
    const entry = seen[pick];
    if (entry === undefined) return;
    const value = `written at ${clock}`;
    const expected = await model.write(entry.expected, value, options);
    const actual = await store.write(entry.actual, value, options);
    compare(expected ? [expected] : [], actual ? [actual] : []);
  }
  async function listBoth(name: string, options: ListOptions): Promise<void> {
    const [expected, actual] = [await model.list(name, options), await store.list(name, options)];
    compare(expected.entries, actual.entries);
    expect(actual.next).toBe(expected.next);
    if (expected.next !== undefined) await listBoth(name, { ...options, after: expected.next });
  }

  for (const each of script) {
    clock += 1;
    if (each.do === 'pass') clock += each.ms;
    setClock(clock);
    if (each.do === 'create') await createOnBoth(each.key, each.options);
    if (each.do === 'read') await readBoth(each.key);
    if (each.do === 'write') await writeBoth(each.pick, each.options);
    if (each.do === 'list') await listBoth(each.name, { max: each.max, newestFirst: each.newestFirst });
    if (each.do === 'take') {
      const { leaseMs, max, lanes } = each;
      compare(await model.take(leaseMs, max, lanes), await store.take(leaseMs, max, lanes));
    }
  }
}

function withoutVersion({ key, value, lane, attempts }: Entry): Omit<Entry, 'version'> {
  return { key, value, lane, attempts };
}
