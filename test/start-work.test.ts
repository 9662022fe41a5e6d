import { expect, it } from 'vitest';
import { startWork } from '../src/app.ts';
import { scopeStore } from '../src/store/scoped-store.ts';
import type { Entry, Store } from '../src/store/store.ts';
import { merchantPrefix } from '../src/domain/merchant.ts';
import { memoryStore } from './features/memory-store.ts';
import { runtimeOf } from './support/runtime-of.ts';

it('looks up records of several accounts ahead in one lane, each in its own store, and keeps their order', async () => {
  const store = memoryStore({ nowMs: 1_000_000 });
  const lagos = scopeStore(store, 'lagos');
  const done: string[] = [];
  const all = Promise.withResolvers<undefined>();
  function kindsOf(name: string, own: Store) {
    const kind = {
      prefix: 'message:',
      prepare: {
        lanes: 'ahead/',
        most: 8,
        async run(entry: Entry) {
          done.push(`${name} asks for ${entry.key}`);
          return await own.write(entry, 'found', { holdMs: 45_000 });
        },
      },
      async work(entry: Entry) {
        done.push(`${name} routes ${entry.key}, ${entry.value}`);
        await own.write(entry, entry.value);
        if (done.length === 6) all.resolve(undefined);
      },
    };
    return [kind];
  }
  const lane = 'ahead/1';
  await store.create('message:1', '', { delayMs: 0, lane });
  await lagos.store.create('message:2', '', { delayMs: 0, lane });
  await store.create('message:3', '', { delayMs: 0, lane });
  const worker = startWork(runtimeOf({}), {
    store,
    claim: () => Promise.resolve(true),
    merchantBots: [
      {
        kinds: kindsOf('main', store),
        tellStuck: () => Promise.resolve(),
        scope: {
          merchant: { name: 'main', isFirst: true, isMixed: false },
          entryOf: (entry) => (entry.key.startsWith(merchantPrefix('lagos')) ? undefined : entry),
        },
      },
      {
        kinds: kindsOf('lagos', lagos.store),
        tellStuck: () => Promise.resolve(),
        scope: { merchant: { name: 'lagos', isFirst: false, isMixed: false }, entryOf: lagos.entryOf },
      },
    ],
    audit: { kinds: [] },
    putAside: () => undefined,
    isBusy: () => false,
  });
  await all.promise;
  await worker.stop();
  expect(done.slice(0, 3).toSorted()).toEqual([
    'lagos asks for message:2',
    'main asks for message:1',
    'main asks for message:3',
  ]);
  expect(done.slice(3)).toEqual([
    'main routes message:1, found',
    'lagos routes message:2, found',
    'main routes message:3, found',
  ]);
});
