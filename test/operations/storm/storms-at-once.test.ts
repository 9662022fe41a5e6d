import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { memoryStore } from '../memory-store.ts';
import { failure, openStormWorld, startStormProcess, windowMs, type StormWorld } from '../storm-house.ts';

const minuteMs = 60_000;
/** Of the fifty edits a minute that Slack takes of the whole app: the rest is for what people press. */
const mostEditsAMinute = 20;
const threshold = 1;

const folder = mkdtempSync(join(tmpdir(), 'payops-storms-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

type Clock = { nowMs: number };

function sqlite(clock: Clock): Store {
  files += 1;
  return openSqliteStore({ path: join(folder, `${files}.sqlite`), now: () => clock.nowMs });
}

/** So many channels that each have a failure every two seconds, for so long, told by two replicas. */
async function storm(open: (clock: Clock) => Store, channels: number, forMs: number) {
  const clock = { nowMs: 1_800_000_000_000 };
  const store = open(clock);
  const world: StormWorld = {
    ...openStormWorld(store, clock),
    channelOf: ({ amountMinor = 0 }) => `C0STORM${String(amountMinor % channels).padStart(3, '0')}`,
  };
  const replicas = [startStormProcess(world, threshold), startStormProcess(world, threshold)] as const;
  async function pass(ms: number): Promise<void> {
    for (const endsAtMs = clock.nowMs + ms; clock.nowMs < endsAtMs; clock.nowMs += 1_000) {
      // oxlint-disable-next-line no-await-in-loop
      while ((await replicas[0].once()) || (await replicas[1].once()));
    }
  }
  const beganAtMs = clock.nowMs;
  let count = 0;
  while (clock.nowMs < beganAtMs + forMs) {
    for (let number = 0; number < channels; number += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await replicas[number % 2 === 0 ? 0 : 1].receive(failure(count));
      count += 1;
    }
    // oxlint-disable-next-line no-await-in-loop
    await pass(2_000);
  }
  const endedAtMs = clock.nowMs;
  await pass(3 * windowMs);
  await store.close();
  const digests = world.messages.flatMap(({ post, ...more }) =>
    post.kind === 'digest' ? [{ ...more, storm: post.storm }] : [],
  );
  return { digests, beganAtMs, endedAtMs, each: count / channels };
}

/** In the minute that has the most of them. */
function mostInAMinute(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + minuteMs).length));
}

describe.each([
  ['memory', memoryStore],
  ['SQLite', sqlite],
])('ten storms at once on %s', (_name, open) => {
  it('edit no more than their share of what Slack takes, each in its turn, and are right at the end', async () => {
    const { digests, beganAtMs, endedAtMs, each } = await storm(open, 10, 5 * minuteMs);
    expect(digests).toHaveLength(10);
    expect(mostInAMinute(digests.flatMap(({ editedAtMs }) => editedAtMs))).toBeLessThanOrEqual(
      mostEditsAMinute,
    );
    for (const { storm: seen, postedAtMs, editedAtMs } of digests) {
      expect(seen).toMatchObject({ count: each, isOver: true });
      // A first post waits for no edit.
      expect(postedAtMs - beganAtMs).toBeLessThanOrEqual(5_000);
      const during = [postedAtMs, ...editedAtMs.filter((at) => at < endedAtMs), endedAtMs];
      const gaps = during.slice(1).map((at, index) => at - (during[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(40_000);
      // What came last is shown within a round of all of them.
      expect(editedAtMs.filter((at) => at >= endedAtMs && at <= endedAtMs + 45_000)).not.toEqual([]);
    }
  });

  it('leave one that is alone as fresh as it ever was: every three seconds at first, and never rarer than 15', async () => {
    const { digests, endedAtMs } = await storm(open, 1, 10 * minuteMs);
    expect(digests).toHaveLength(1);
    const { editedAtMs = [], postedAtMs = 0 } = digests[0] ?? {};
    expect(editedAtMs.filter((at) => at < postedAtMs + minuteMs).length).toBeGreaterThanOrEqual(12);
    expect(mostInAMinute(editedAtMs)).toBeLessThanOrEqual(mostEditsAMinute);
    const during = [postedAtMs, ...editedAtMs.filter((at) => at < endedAtMs)];
    const gaps = during.slice(1).map((at, index) => at - (during[index] ?? 0));
    // A failure comes every two seconds only, and the workers look each second.
    expect(Math.max(...gaps)).toBeLessThanOrEqual(18_000);
  });
});
