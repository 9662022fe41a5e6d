import { describe, expect, it } from 'vitest';
import { streamAlone } from './endless-bodies.ts';
import { notClosed, sendOddBodies } from './run-bot.ts';
import { openScene } from './scene.ts';
import { heldUp, type Latency } from './slow-sockets.ts';

/** `npm run hostile`, also in CI, sends them to both endpoints at once and watches the memory of a deployed bot. */
it('gives odd and endless bodies the right answers', async (test) => {
  const scene = await openScene('here');
  test.onTestFinished(() => scene.close());
  // Concurrently: Bolt takes three seconds to give up on some.
  const [wrong, endless] = await Promise.all([sendOddBodies(scene, Infinity), streamAlone(scene, 64)]);
  expect(wrong).toEqual([]);
  expect(notClosed(endless)).toEqual([]);
  expect(Math.max(...endless.map(({ sentMb }) => sentMb))).toBeLessThan(64);
});

function latency(p99Ms: number, wrong = 0): Latency {
  return { sent: 100, wrong, p50Ms: p99Ms / 2, p99Ms };
}

describe('events beside slow sockets', () => {
  it.each([
    ['as quick as before', latency(10), latency(12), 0],
    ['slower, but not to be noticed', latency(10), latency(500), 0],
    ['slower on a slow machine', latency(200), latency(1_000), 0],
    ['noticeably slower', latency(10), latency(501), 1],
    ['much slower on a slow machine', latency(200), latency(1_001), 1],
    ['answered with something else', latency(10), latency(10, 1), 1],
    ['answered with something else before already', latency(10, 1), latency(10), 1],
  ])('that are %s', (_what, before, during, problems) => {
    expect(heldUp({ before, during })).toHaveLength(problems);
  });
});
