import { expect, it } from 'vitest';
import { failure, openStormWorld, startStormProcess } from '../storm-house.ts';
import { itemOf } from '../../../src/domain/storm-summary.ts';

const storm = 'C0ALERTS01/1800000000000';

it('counts a recovery once, however many came in between, as after a kill that only a lease makes good', async () => {
  const { storms } = startStormProcess(openStormWorld(), 1);
  await storms.add(storm, itemOf(failure(1), { receivedAtMs: 1, addedAtMs: 1 }));
  const ids = Array.from({ length: 250 }, (_, index) => failure(index).key);
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await storms.recovered(storm, id, []);
  }
  await Promise.all(ids.map((id) => storms.recovered(storm, id, [])));
  expect((await storms.see(storm))?.recovered).toBe(ids.length);
});
