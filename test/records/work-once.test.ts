import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/store/store.ts';
import { workOnce, type WorkOnceDeps } from '../../src/records/work-once.ts';
import { memoryStore } from '../features/memory-store.ts';

function workshop() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const done: string[] = [];
  function kind(name: string): WorkOnceDeps['kinds'][number] {
    return {
      prefix: `${name}:`,
      async work(entry) {
        done.push(`${name} did ${entry.key}`);
        await store.write(entry, entry.value);
      },
    };
  }
  const deps: WorkOnceDeps = {
    store,
    leaseMs: 45_000,
    kinds: [kind('outbox'), kind('charge')],
  };
  return { clock, store, done, deps };
}

describe('workOnce', () => {
  it('hands each record to its kind, one at a time, and says when nothing was due', async () => {
    const { store, done, deps } = workshop();
    await store.create('outbox:charge:pay-1', '', { delayMs: 0 });
    await store.create('charge:pay-1', '', { delayMs: 0 });
    expect([await workOnce(deps), await workOnce(deps), await workOnce(deps)]).toEqual([true, true, false]);
    expect(done.toSorted()).toEqual(['charge did charge:pay-1', 'outbox did outbox:charge:pay-1']);
  });

  it('does ahead what can be, of all that are taken together, and works them in their order', async () => {
    const { store, done, deps } = workshop();
    for (const key of ['outbox:1', 'outbox:2', 'outbox:3']) {
      // oxlint-disable-next-line no-await-in-loop
      await store.create(key, '', { delayMs: 0, lane: 'route/a' });
    }
    const ahead = async (entry: Entry) => {
      done.push(`ahead ${entry.key}`);
      return await store.write(entry, `known of ${entry.key}`, { holdMs: deps.leaseMs });
    };
    const kinds = deps.kinds.map((kind) => ({ ...kind, ahead }));
    await workOnce({ ...deps, kinds, together: { lanes: 'route/', most: 2, now: () => 0 } });
    expect(done).toEqual(['ahead outbox:1', 'ahead outbox:2', 'outbox did outbox:1', 'outbox did outbox:2']);
    expect(await store.read('outbox:2')).toMatchObject({ value: 'known of outbox:2' });
  });

  it('works nothing that is behind what is not ready, and gives it out again in its order', async () => {
    const { store, clock, done, deps } = workshop();
    const [kind] = deps.kinds;
    if (!kind) throw new Error('there is a kind');
    for (const key of ['outbox:1', 'outbox:2', 'outbox:3', 'outbox:4']) {
      // oxlint-disable-next-line no-await-in-loop
      await store.create(key, '', { delayMs: 0, lane: 'route/a' });
    }
    let isAway = true;
    const waiting = {
      prefix: 'outbox:',
      async work(entry: Entry) {
        if (!isAway || entry.key !== 'outbox:2') await kind.work(entry);
        else await store.write(entry, entry.value, { holdMs: 2_000 });
      },
      ahead: (entry: Entry) => Promise.resolve(isAway && entry.key === 'outbox:2' ? undefined : entry),
    };
    const working = { ...deps, kinds: [waiting], together: { lanes: 'route/', most: 8, now: () => 0 } };
    await workOnce(working);
    expect(done).toEqual(['outbox did outbox:1']);
    expect(await workOnce(working)).toBe(false);
    isAway = false;
    clock.nowMs += 2_000;
    while (await workOnce(working));
    expect(done).toEqual([1, 2, 3, 4].map((number) => `outbox did outbox:${number}`));
  });

  it('leaves the rest for when the lease has ended, when the first of them took most of it', async () => {
    const { store, clock, done, deps } = workshop();
    for (const key of ['outbox:1', 'outbox:2', 'outbox:3']) {
      // oxlint-disable-next-line no-await-in-loop
      await store.create(key, '', { delayMs: 0, lane: 'route/a' });
    }
    const slowly = deps.kinds.map(({ prefix, work }) => ({
      prefix,
      async work(entry: Entry) {
        await work(entry);
        clock.nowMs += deps.leaseMs / 3;
      },
    }));
    const together = { lanes: 'route/', most: 3, now: () => clock.nowMs };
    await workOnce({ ...deps, kinds: slowly, together });
    expect(done).toEqual(['outbox did outbox:1', 'outbox did outbox:2']);
    expect(await workOnce({ ...deps, together })).toBe(false);
    clock.nowMs += deps.leaseMs;
    expect(await workOnce({ ...deps, together })).toBe(true);
    expect(done.at(-1)).toBe('outbox did outbox:3');
  });

  it('throws what the work throws, and the record is due again when its lease ends', async () => {
    const { clock, store, done, deps } = workshop();
    await store.create('outbox:y', '', { delayMs: 0 });
    const broken = { prefix: 'outbox:', work: () => Promise.reject(new Error('away')) };
    await expect(workOnce({ ...deps, kinds: [broken] })).rejects.toThrow('away');
    expect(await workOnce(deps)).toBe(false);
    clock.nowMs += deps.leaseMs;
    expect(await workOnce(deps)).toBe(true);
    expect(done).toEqual(['outbox did outbox:y']);
  });
});
