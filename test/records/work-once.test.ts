import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/store/store.ts';
import { workOnce, type WorkKind } from '../../src/records/worker.ts';
import { memoryStore } from '../features/memory-store.ts';

function workshop() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const done: string[] = [];
  function kind(name: string): WorkKind {
    return {
      prefix: `${name}:`,
      async work(entry) {
        done.push(`${name} did ${entry.key}`);
        await store.write(entry, entry.value);
      },
    };
  }
  const deps = {
    store,
    leaseMs: 45_000,
    kinds: [kind('message'), kind('charge')],
    now: () => clock.nowMs,
  };
  return { clock, store, done, deps };
}

describe('workOnce', () => {
  it('passes each record to its kind, one at a time, and says if nothing was due', async () => {
    const { store, done, deps } = workshop();
    await store.create('message:charge:pay-1', '', { delayMs: 0 });
    await store.create('charge:pay-1', '', { delayMs: 0 });
    expect([await workOnce(deps), await workOnce(deps), await workOnce(deps)]).toEqual([true, true, false]);
    expect(done.toSorted()).toEqual(['charge did charge:pay-1', 'message did message:charge:pay-1']);
  });

  it('prepares all records that were taken together, and works on them in order', async () => {
    const { store, done, deps } = workshop();
    for (const key of ['message:1', 'message:2', 'message:3']) {
      await store.create(key, '', { delayMs: 0, lane: 'route/a' });
    }
    const prepare = {
      lanes: 'route/',
      most: 2,
      async run(entry: Entry) {
        done.push(`prepared ${entry.key}`);
        return await store.write(entry, `known of ${entry.key}`, { holdMs: deps.leaseMs });
      },
    };
    const kinds = deps.kinds.map((kind) => ({ ...kind, prepare }));
    await workOnce({ ...deps, kinds });
    expect(done).toEqual([
      'prepared message:1',
      'prepared message:2',
      'message did message:1',
      'message did message:2',
    ]);
    expect(await store.read('message:2')).toMatchObject({ value: 'known of message:2' });
  });

  it('stops at a record that is not ready, and continues there, in order', async () => {
    const { store, clock, done, deps } = workshop();
    const [kind] = deps.kinds;
    if (!kind) throw new Error('there is a kind');
    for (const key of ['message:1', 'message:2', 'message:3', 'message:4']) {
      await store.create(key, '', { delayMs: 0, lane: 'route/a' });
    }
    let isAway = true;
    const waiting = {
      prefix: 'message:',
      async work(entry: Entry) {
        if (!isAway || entry.key !== 'message:2') await kind.work(entry);
        else await store.write(entry, entry.value, { holdMs: 2_000 });
      },
      prepare: {
        lanes: 'route/',
        most: 8,
        run: async (entry: Entry) => (isAway && entry.key === 'message:2' ? undefined : entry),
      },
    };
    const working = { ...deps, kinds: [waiting] };
    await workOnce(working);
    expect(done).toEqual(['message did message:1']);
    expect(await workOnce(working)).toBe(false);
    isAway = false;
    clock.nowMs += 2_000;
    while (await workOnce(working));
    expect(done).toEqual([1, 2, 3, 4].map((number) => `message did message:${number}`));
  });

  it('leaves the other records for the next lease if the first one took most of this lease', async () => {
    const { store, clock, done, deps } = workshop();
    for (const key of ['message:1', 'message:2', 'message:3']) {
      await store.create(key, '', { delayMs: 0, lane: 'route/a' });
    }
    const prepare = { lanes: 'route/', most: 3, run: async (entry: Entry) => entry };
    const slowly = deps.kinds.map(({ prefix, work }) => ({
      prefix,
      prepare,
      async work(entry: Entry) {
        await work(entry);
        clock.nowMs += deps.leaseMs / 3;
      },
    }));
    await workOnce({ ...deps, kinds: slowly });
    expect(done).toEqual(['message did message:1', 'message did message:2']);
    expect(await workOnce({ ...deps, kinds: slowly })).toBe(false);
    clock.nowMs += deps.leaseMs;
    expect(await workOnce({ ...deps, kinds: slowly })).toBe(true);
    expect(done.at(-1)).toBe('message did message:3');
  });
});
