import { expect, it } from 'vitest';
import { failure, openStormWorld, startStormProcess } from '../storm-house.ts';
import { itemOf } from '../../../src/domain/storm-summary.ts';

const storm = 'C0ALERTS01/1800000000000';

it('counts a recovery once, however many came in between, as after a kill that only a lease makes good', async () => {
  const { storms } = startStormProcess(openStormWorld(), 1);
  const ids: [string, number][] = [];
  for (let number = 0; number < 250; number += 1) {
    const event = failure(number);
    // oxlint-disable-next-line no-await-in-loop -- in their order
    const at = await storms.add(storm, itemOf(event, { receivedAtMs: 1, addedAtMs: 1 }));
    // oxlint-disable-next-line no-await-in-loop
    await storms.recovered(storm, event.key, at);
    ids.push([event.key, at]);
  }
  await Promise.all(ids.map(([id, at]) => storms.recovered(storm, id, at % 2 === 0 ? at : undefined)));
  expect((await storms.see(storm))?.recovered).toBe(ids.length);
});
