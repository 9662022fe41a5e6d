import { describe, expect, it } from 'vitest';
import { createDeadLetters } from '../../../src/operations/outbox/dead-letters.ts';
import { channel, failure, openStormWorld, startStormProcess, type StormWorld } from '../storm-house.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** A storm whose digest stood, and was given up because its channel was archived then. */
async function buried() {
  const slack = { isArchived: false, asked: 0 };
  const world: StormWorld = {
    ...openStormWorld(),
    refuse: (_way, to) => {
      if (!slack.isArchived || to !== channel) return undefined;
      slack.asked += 1;
      return { kind: 'refused', slackError: 'is_archived', fix: 'Unarchive it.', about: 'channel' };
    },
  };
  const bot = startStormProcess(world, 2);
  for (let number = 1; number <= 5; number += 1) {
    // oxlint-disable-next-line no-await-in-loop
    await bot.receive(failure(number));
  }
  await bot.drain(20_000);
  const storm = (await bot.storms.channel(channel, 'payment_failed')).storm?.id ?? '';
  slack.isArchived = true;
  await bot.storms.refresh(storm);
  await bot.receive(failure(6));
  await bot.drain(26 * hourMs, 2 * minuteMs);
  const letters = createDeadLetters({ store: world.store, now: () => world.clock.nowMs });
  expect(await letters.all()).toMatchObject([{ channel, messages: 1 }]);
  slack.asked = 0;
  return { slack, bot, storm, letters, world };
}

describe('a digest that was given up, of a storm that goes on', () => {
  it('is tried again for what its storm gathers, once in ten minutes and not once for each alert', async () => {
    const { slack, bot, storm, letters } = await buried();
    for (let second = 0; second < 1_200; second += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await bot.storms.refresh(storm);
      // oxlint-disable-next-line no-await-in-loop
      await bot.drain(1_000);
    }
    expect(slack.asked).toBe(2);
    expect(await letters.all()).toMatchObject([{ channel, messages: 1 }]);
  });

  it('follows by itself once its channel is back', async () => {
    const { slack, bot, storm, letters, world } = await buried();
    await bot.storms.refresh(storm);
    slack.isArchived = false;
    const [digest] = world.messages.filter(({ post }) => post.kind === 'digest');
    const before = digest?.editedAtMs.length ?? 0;
    await bot.drain(11 * minuteMs);
    expect(digest?.editedAtMs.length).toBeGreaterThan(before);
    expect(await letters.all()).toEqual([]);
  });

  it('is delivered at once when somebody asks for it while it rests', async () => {
    const { slack, bot, storm, letters, world } = await buried();
    await bot.storms.refresh(storm);
    slack.isArchived = false;
    expect(await letters.redrive(channel)).toEqual([{ channel, messages: 1 }]);
    const [digest] = world.messages.filter(({ post }) => post.kind === 'digest');
    const before = digest?.editedAtMs.length ?? 0;
    await bot.drain(10_000);
    expect(digest?.editedAtMs.length).toBe(before + 1);
    expect(await letters.all()).toEqual([]);
  });
});
