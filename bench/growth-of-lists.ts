/**
 * `node bench/growth-of-lists.ts`: what 50 records of a list cost, first page and one from the middle, where the list has
 * a thousand and where it has a million. Says the medians and their ratio, which must stay near 1 on both stores.
 */
import type { Store } from '../src/store/store.ts';
import { redisKind, sqliteKind, type StoreKind } from './charges/stores.ts';

const sizes = [1_000, 1_000_000] as const;
const rounds = 300;

for (const kind of [sqliteKind(), await redisKind()]) {
  if (kind) await measure(kind);
  else console.warn('SKIPPED: Redis, because redis-server is not installed.');
}

/* oxlint-disable no-await-in-loop -- one after the other, so that none slows another down */
async function measure(kind: StoreKind): Promise<void> {
  const medians: { first: number; middle: number }[] = [];
  for (const size of sizes) {
    const { store } = await kind.open();
    await fill(store, size);
    const after = `${Math.floor(size / 2)}:record ${Math.floor(size / 2)}`;
    medians.push({ first: await medianMs(store, {}), middle: await medianMs(store, { after }) });
  }
  await kind.close();
  const [small, large] = medians;
  if (!small || !large) throw new Error('Two sizes were to be measured.');
  for (const page of ['first', 'middle'] as const) {
    const ratio = (large[page] / small[page]).toFixed(2);
    console.log(
      `${kind.name}, ${page} page of 50: ${small[page].toFixed(3)} ms of 1e3, ${large[page].toFixed(3)} ms of 1e6, × ${ratio}`,
    );
  }
}

async function fill(store: Store, size: number): Promise<void> {
  for (let from = 0; from < size; from += 5_000) {
    const numbers = Array.from({ length: Math.min(5_000, size - from) }, (_, at) => from + at);
    await Promise.all(
      numbers.map((at) => store.create(`record ${at}`, 'a value of some length', { index: { all: at } })),
    );
  }
}

async function medianMs(store: Store, from: { after?: string }): Promise<number> {
  const tookMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    const { entries } = await store.list('all', { max: 50, newestFirst: true, ...from });
    tookMs.push(performance.now() - startedAt);
    if (entries.length !== 50) throw new Error(`A page of 50 has ${entries.length}.`);
  }
  return tookMs.toSorted((one, other) => one - other)[rounds / 2] ?? NaN;
}
