import { expect, it } from 'vitest';
import { itemOf } from '../../../src/domain/storm-summary.ts';
import { everyPoint } from '../charge-house.ts';
import { failure, openStormWorld, standing, startStormProcess } from '../storm-house.ts';

const added = 'after create storm-list';
const others = 150;

it('counts an alert once that was counted when its process was killed, whatever other lanes added since', async () => {
  const rehearsed = everyPoint();
  await burst(openStormWorld(), rehearsed);
  const points = everyPoint(rehearsed.passed.indexOf(added) + 1);
  const world = openStormWorld();
  await Promise.race([burst(world, points), points.killed]);
  const process = startStormProcess(world, 1);
  const storm = (await process.storms.channel('C0ALERTS01', 'payment_failed')).storm?.id ?? '';
  expect((await process.storms.see(storm))?.count).toBe(1);
  const { nowMs } = world.clock;
  for (let number = 0; number < others; number += 1) {
    const item = itemOf(failure(100 + number), { receivedAtMs: nowMs, addedAtMs: nowMs });
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await process.storms.add(storm, item);
  }
  await process.drain(120_000);
  expect(standing(world).digests.map(({ count }) => count)).toEqual([2 + others]);
});

async function burst(world: ReturnType<typeof openStormWorld>, points: ReturnType<typeof everyPoint>) {
  const process = startStormProcess(world, 1, points);
  await process.receive(failure(1));
  await process.receive(failure(2));
  await process.drain(10_000);
}
