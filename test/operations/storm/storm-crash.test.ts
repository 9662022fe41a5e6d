import { describe, expect, it } from 'vitest';
import { momentsOf } from '../../support/kill-everywhere.ts';
import { everyPoint, type Points } from '../charge-house.ts';
import {
  failure,
  payment,
  openStormWorld,
  standing,
  startStormProcess,
  windowMs,
  type StormWorld,
} from '../storm-house.ts';

const threshold = 2;
const failures = [1, 2, 3, 4, 5].map(failure);
const payments = [1, 2, 3, 4, 5].map(payment);
const ada = 'U0ADA00001';

/** A burst, told, taken on, and over. */
async function live(world: StormWorld, points?: Points, digestByMs = 8_000): Promise<void> {
  const process = startStormProcess(world, threshold, points);
  for (const event of failures) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await process.receive(event);
  }
  await process.drain(digestByMs);
  const [digest] = standing(world).digests;
  if (digest) await process.takeStorm.acknowledge(digest.id, ada);
  await process.drain(10_000);
  await process.drain(windowMs + 30_000, 10_000);
}

/** The sender repeats what was not answered, the person presses again, and another process works on. */
// oxlint-disable-next-line complexity -- a line for each promise, and a digest that may be missing in each
async function recover(world: StormWorld): Promise<string[]> {
  // What the dead one held is free after its lease.
  await live(world, everyPoint(), 60_000);
  await startStormProcess(world, threshold).drain(windowMs + 60_000, 10_000);
  const { digests, singles } = standing(world);
  const [digest] = digests;
  const process = startStormProcess(world, threshold);
  const cards = await Promise.all(failures.map(({ key }) => process.cards.read(key)));
  const taken = cards.filter(({ card }) => card.kind === 'acknowledged' && card.by === ada).length;
  const listed = digest ? await process.storms.items(digest.id, 0) : [];
  const left = [...new Set([...singles, ...listed.map(({ reference }) => reference ?? '')])];
  const wrongs: [boolean, string][] = [
    [digests.length !== 1, `${digests.length} digests`],
    [new Set(singles).size !== singles.length, `told twice: ${singles.join()}`],
    [left.length !== failures.length, `told of ${left.join()}`],
    [singles.length > threshold, `${singles.length} singly`],
    [digest?.summary.above !== (singles.length || undefined), `${digest?.summary.above} above it`],
    [digest?.count !== failures.length, `the digest counts ${digest?.count}`],
    [digest?.summary.sums[0]?.minor !== 5_015, `the digest sums ${digest?.summary.sums[0]?.minor}`],
    [digest?.isOver !== true, 'the storm never ends'],
    [taken !== failures.length, `${taken} acknowledged`],
  ];
  return wrongs.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

describe('a storm killed at every await', () => {
  it('is told by one digest that counts each failure once, is acknowledged whole, and ends', async () => {
    const whole = everyPoint();
    const untouched = openStormWorld();
    await live(untouched, whole);
    expect(await recover(untouched)).toEqual([]);
    expect(whole.passed.length).toBeGreaterThan(250);
    const wrong: string[] = [];
    for (const moment of momentsOf(whole.passed.map((name, index) => `${name} #${index}`))) {
      const killAt = Number(moment.split('#').at(-1));
      const world = openStormWorld();
      const points = everyPoint(killAt);
      // oxlint-disable-next-line no-await-in-loop
      await Promise.race([live(world, points), points.killed]);
      // oxlint-disable-next-line no-await-in-loop
      const wrongs = await recover(world);
      wrong.push(...wrongs.map((words) => `killed at ${killAt}, ${whole.passed[killAt] ?? ''}: ${words}`));
    }
    expect(wrong).toEqual([]);
  });
});

/** A burst of payments, told, and over. */
async function livePaid(world: StormWorld, points?: Points): Promise<void> {
  const process = startStormProcess(world, threshold, points);
  for (const event of payments) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await process.receive(event);
  }
  await process.drain(10_000);
  await process.drain(windowMs + 30_000, 10_000);
}

async function recoverPaid(world: StormWorld): Promise<string> {
  await livePaid(world);
  await startStormProcess(world, threshold).drain(windowMs + 60_000, 10_000);
  const { digests, singles } = standing(world);
  const [digest] = digests;
  const listed = digest ? await startStormProcess(world, threshold).storms.items(digest.id, 0) : [];
  const told = [...singles, ...listed.map(({ reference }) => reference ?? '')].toSorted();
  // How many were proven is left out: what a kill delays is counted by its event alone.
  return [digests.length, digest?.count, digest?.isOver, ...new Set(told)].join();
}

describe('a burst of payments killed at every await', () => {
  it('is told by one digest that counts each payment once, and ends', async () => {
    const whole = everyPoint();
    const untouched = openStormWorld();
    await livePaid(untouched, whole);
    const right = await recoverPaid(untouched);
    expect(right).toBe(`1,${payments.length},true,BURST-1,BURST-2,BURST-3,BURST-4,BURST-5`);
    const wrong: string[] = [];
    for (const moment of momentsOf(whole.passed.map((name, index) => `${name} #${index}`))) {
      const killAt = Number(moment.split('#').at(-1));
      const world = openStormWorld();
      const points = everyPoint(killAt);
      // oxlint-disable-next-line no-await-in-loop
      await Promise.race([livePaid(world, points), points.killed]);
      // oxlint-disable-next-line no-await-in-loop
      const found = await recoverPaid(world);
      if (found !== right) wrong.push(`killed at ${killAt}, ${whole.passed[killAt] ?? ''}: ${found}`);
    }
    expect(wrong).toEqual([]);
  });
});
