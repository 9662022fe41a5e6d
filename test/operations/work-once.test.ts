import { describe, expect, it } from 'vitest';
import { workOnce, type WorkOnceDeps } from '../../src/operations/work-once.ts';
import { memoryStore } from './memory-store.ts';

function workshop() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const done: string[] = [];
  const logged: string[] = [];
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
    log: (level, message, fields) => void logged.push(`${level}: ${message}: ${fields?.key}`),
  };
  return { clock, store, done, logged, deps };
}

describe('workOnce', () => {
  it('hands each record to its kind, one at a time, and says when nothing was due', async () => {
    const { store, done, deps } = workshop();
    await store.create('outbox:charge:pay-1', '', { delayMs: 0 });
    await store.create('charge:pay-1', '', { delayMs: 0 });
    expect([await workOnce(deps), await workOnce(deps), await workOnce(deps)]).toEqual([true, true, false]);
    expect(done.toSorted()).toEqual(['charge did charge:pay-1', 'outbox did outbox:charge:pay-1']);
  });

  it('keeps what is of no known kind, logs it once and does not spin', async () => {
    const { clock, store, deps, logged } = workshop();
    await store.create('later:x', 'kept', { delayMs: 0 });
    let rounds = 0;
    for (let second = 0; second < 600; second += 1) {
      while (await workOnce(deps)) rounds += 1;
      clock.nowMs += 1_000;
    }
    expect(rounds).toBeLessThan(6);
    expect(rounds).toBeGreaterThan(1);
    expect(logged).toEqual(['error: work of an unknown kind is due; it is kept: later:x']);
    expect(await store.read('later:x')).toMatchObject({ value: 'kept' });
  });

  it('goes on with the lane behind what is of no known kind', async () => {
    const { store, done, deps } = workshop();
    await store.create('later:x', '', { delayMs: 0, lane: 'C1' });
    await store.create('outbox:y', '', { delayMs: 0, lane: 'C1' });
    while (await workOnce(deps));
    expect(done).toEqual(['outbox did outbox:y']);
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
