import { setTimeout as rest } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { hastenedStore } from '../../support/kill-points.ts';
import { failure, openStormWorld, standing, startStormProcess } from '../storm-house.ts';
import { onBothStores } from '../two-stores.ts';

const count = 60;
const threshold = 1;
/** So that the seconds between two edits of a digest pass sooner. */
const factor = 10;

onBothStores('a storm that two replicas tell', (open) => {
  it('has one digest, counts every failure once and is taken on once', async () => {
    const { one, two, close } = await open();
    const now = fastClock({ fromMs: Date.now(), factor });
    const clock = {
      get nowMs() {
        return now();
      },
    };
    const [first, second] = [one, two].map((store) => hastenedStore(store, factor)) as [Store, Store];
    const world = openStormWorld(first, clock);
    const replicas = [first, second].map((store) => startStormProcess({ ...world, store }, threshold));
    const [left, right] = replicas;
    if (!left || !right) throw new Error('There are two.');
    const events = Array.from({ length: count }, (_, index) => failure(index));
    await Promise.all(
      [...events, ...events].map((event, index) => (index % 2 === 0 ? left : right).receive(event)),
    );
    let isDone = false;
    const loops = [...replicas, ...replicas].map(async (replica) => {
      // oxlint-disable-next-line no-await-in-loop, no-unmodified-loop-condition
      while (!isDone) if (!(await replica.once())) await rest(20);
    });
    const digest = () => standing(world).digests[0];
    await expect.poll(() => digest()?.count, { timeout: 60_000 }).toBe(count);
    const id = digest()?.id ?? '';
    const taken = await Promise.all([
      left.takeStorm.acknowledge(id, 'U0ADA00001'),
      right.takeStorm.acknowledge(id, 'U0BOLA0001'),
    ]);
    expect(taken.map(({ kind }) => kind).toSorted()).toEqual(['had', 'taken']);
    const taker = taken[0]?.kind === 'taken' ? 'U0ADA00001' : 'U0BOLA0001';
    await expect.poll(() => digest()?.taken, { timeout: 60_000 }).toMatchObject({ by: taker });
    isDone = true;
    await Promise.all(loops);
    const { digests, singles } = standing(world);
    expect(digests).toHaveLength(1);
    expect(singles.length).toBeLessThanOrEqual(threshold);
    const pages = await Promise.all([0, 1].map((page) => left.storms.items(id, page)));
    const listed = pages.flat().map(({ reference }) => reference ?? '');
    expect(new Set([...listed, ...singles]).size).toBe(count);
    expect(listed.length).toBe(count);
    await close();
  });
});
