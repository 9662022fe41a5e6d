import { expect, it } from 'vitest';
import { itemOf } from '../../../src/domain/storm-summary.ts';
import { itemsPerPage } from '../../../src/operations/work/paged-log.ts';
import { channel, failure, openStormWorld, startStormProcess, windowMs } from '../storm-house.ts';

const dayMs = 86_400_000;
const ada = 'U0ADA00001';

it('takes on a storm that is older than what is remembered, and rests then', async () => {
  const world = openStormWorld();
  const { clock } = world;
  const process = startStormProcess(world, 1);
  const storm = `${channel}/${clock.nowMs}`;
  const add = async (from: number, to: number): Promise<void> => {
    for (let number = from; number < to; number += 1) {
      const times = { receivedAtMs: clock.nowMs, addedAtMs: clock.nowMs };
      // oxlint-disable-next-line no-await-in-loop -- in their order
      await process.storms.add(storm, itemOf(failure(number), times));
    }
  };
  await add(0, itemsPerPage + 1);
  clock.nowMs += 29 * dayMs;
  await add(itemsPerPage + 1, itemsPerPage + 2);
  clock.nowMs += 2 * dayMs;
  await process.takeStorm.acknowledge(storm, ada);
  let rounds = 0;
  // oxlint-disable-next-line no-await-in-loop
  while (rounds < 100 && (await process.once())) rounds += 1;
  expect(rounds).toBeLessThan(100);
  expect((await process.storms.see(storm))?.taken).toMatchObject({ by: ada, done: itemsPerPage + 2 });
});

it('takes on what is added when all was taken on long ago, as after a kill and a long night', async () => {
  const world = openStormWorld();
  const { clock } = world;
  const process = startStormProcess(world, 1);
  for (const number of [1, 2, 3]) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await process.receive(failure(number));
  }
  await process.drain(10_000);
  const storm = (await process.storms.channel(channel, 'payment_failed')).storm?.id ?? '';
  await process.takeStorm.acknowledge(storm, ada);
  await process.drain(windowMs + 3_600_000, 10_000);
  const late = failure(4);
  await process.receive(late);
  await process.storms.addAgain(storm, itemOf(late, { receivedAtMs: 1, addedAtMs: clock.nowMs }));
  await process.drain(60_000);
  expect((await process.cards.read(late.key)).card).toMatchObject({ kind: 'acknowledged', by: ada });
  expect((await process.storms.see(storm))?.taken?.done).toBe(3);
});
