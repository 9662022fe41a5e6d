import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { killEverywhere } from '../support/kill-everywhere.ts';
import { bundleOf } from '../support/bot-bundle.ts';
import { createLimit } from '../support/limit.ts';

/** A charge has some 110 moments; `npm run kills` takes all of every story on both stores, and CI a share of each. */
const every = 50;
/** Random, so that over time all moments are tried. */
const from = Math.floor(Math.random() * every);

/** A process, since it must die: SIGKILL at an await, and another process continues with what is stored. */
it('a charge whose answer is lost and whose bot is killed: made once, ends correctly, posted once', async (test) => {
  const bundle = await bundleOf('killed');
  test.onTestFinished(() => bundle.remove());
  const place = { bundle, busy: createLimit(availableParallelism() + 1) };
  const ways = { limit: createLimit(16), pressAgain: false, awaitExpiry: false };
  const result = await killEverywhere({ story: 'lost', place, every, from, ...ways });
  console.log(`${result.kills} kills from moment ${from} of ${result.moments}`);
  expect(result.wrong).toEqual([]);
  expect(result.points).toBeGreaterThan(100);
  expect(result.kills).toBeGreaterThan(1);
});
