import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../../src/domain/delivery.ts';
import { digestEditsLane } from '../../../src/operations/outbox/digest-edits.ts';
import { everyPoint } from '../charge-house.ts';
import {
  failure,
  openStormWorld,
  startStormProcess,
  type Standing,
  type StormWorld,
} from '../storm-house.ts';

const channels = ['C0ONE00001', 'C0TWO00001', 'C0THREE001'] as const;
const [one, two, three] = channels;

/** Storms in three channels; `more` fails once more in each. */
async function threeStorms() {
  const edits: { channel: string; atMs: number; outcome: PostOutcome['kind'] }[] = [];
  const answers: { edit?: ((channel: string) => PostOutcome | undefined) | undefined } = {};
  const opened = openStormWorld();
  const world: StormWorld = {
    ...opened,
    channelOf: ({ amountMinor = 0 }) => channels[amountMinor % 3] ?? one,
    refuse(way, channel) {
      if (way === 'post') return undefined;
      const refusal = answers.edit?.(channel);
      edits.push({ channel, atMs: opened.clock.nowMs, outcome: refusal?.kind ?? 'posted' });
      return refusal;
    },
  };
  const bot = startStormProcess(world, 1);
  let count = 0;
  async function more(each: number): Promise<void> {
    for (let number = 0; number < 3 * each; number += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await bot.receive(failure(count));
      count += 1;
    }
  }
  const shown = () =>
    world.messages.flatMap(({ post }: Standing) => (post.kind === 'digest' ? [post.storm.count] : []));
  await more(4);
  await bot.drain(30_000);
  return { world, bot, edits, answers, more, shown };
}

describe('the lane of edits', () => {
  it('is held for all when Slack asks to wait', async () => {
    const { bot, world, edits, answers, more, shown } = await threeStorms();
    expect(shown()).toEqual([4, 4, 4]);
    const fromMs = world.clock.nowMs;
    answers.edit = () => ({ kind: 'rate_limited', retryAfterMs: 20_000 });
    await more(1);
    await bot.drain(15_000);
    answers.edit = undefined;
    await bot.drain(45_000);
    const asked = edits.filter(({ atMs }) => atMs >= fromMs);
    const [limited, next] = asked;
    expect(limited?.outcome).toBe('rate_limited');
    expect((next?.atMs ?? 0) - (limited?.atMs ?? 0)).toBeGreaterThanOrEqual(20_000);
    expect(asked.filter(({ outcome }) => outcome === 'rate_limited')).toHaveLength(1);
    expect(shown()).toEqual([5, 5, 5]);
  });

  it('goes on for the others when Slack refuses one channel, or one message is gone', async () => {
    const { bot, world, edits, answers, more, shown } = await threeStorms();
    const archived = { slackError: 'is_archived', fix: 'unarchive it', about: 'channel' } as const;
    answers.edit = (channel) => {
      if (channel === one) return { kind: 'refused', ...archived };
      if (channel === two) return { kind: 'gone', slackError: 'message_not_found' };
      return undefined;
    };
    const fromMs = world.clock.nowMs;
    await more(1);
    await bot.drain(20_000);
    expect(edits.find(({ channel, atMs }) => channel === three && atMs >= fromMs)).toBeDefined();
    // Posted anew where it is gone, still the old one where it is refused.
    expect(shown()).toEqual(expect.arrayContaining([5, 5]));
    expect(shown()).toHaveLength(4);
    answers.edit = undefined;
    await bot.drain(120_000);
    expect(shown().filter((count) => count === 5)).toHaveLength(3);
  });

  it('follows what comes while a digest waits in it, in one edit', async () => {
    const { bot, world, edits, more, shown } = await threeStorms();
    const before = edits.length;
    await more(1);
    await bot.drain(1_000, 500);
    const waiting = (await keysIn(world)).length;
    expect(waiting).toBeGreaterThan(0);
    await more(1);
    await bot.drain(60_000);
    expect(shown()).toEqual([6, 6, 6]);
    expect(edits.length - before).toBeLessThanOrEqual(6);
    expect(await keysIn(world)).toEqual([]);
  });

  it('loses no edit whatever call the worker dies at', async () => {
    const wrong: string[] = [];
    let total = Infinity;
    for (let killAt = 0; killAt < total; killAt += 1) {
      const { world, bot, more, shown } = await threeStorms();
      await more(1);
      const points = everyPoint(killAt);
      const dying = startStormProcess(world, 1, points);
      await Promise.race([dying.drain(15_000), points.killed]);
      // It has had all of its awaits: there is nothing left to die at.
      if (points.passed.length < killAt) total = killAt;
      await bot.drain(120_000);
      if (shown().join() !== '5,5,5') wrong.push(`${killAt}, ${points.passed.at(-1)}: ${shown().join()}`);
    }
    expect(wrong).toEqual([]);
    expect(total).toBeGreaterThan(50);
  });
});

/** The digests that wait for their turn. */
async function keysIn({ store }: StormWorld): Promise<string[]> {
  const keys = 'keys' in store ? (store as { keys: () => string[] }).keys() : [];
  const entries = await Promise.all(
    keys.filter((key) => key.startsWith('outbox:digest:')).map((key) => store.read(key)),
  );
  return entries.flatMap((entry) => (entry?.lane === digestEditsLane ? [entry.key] : []));
}
