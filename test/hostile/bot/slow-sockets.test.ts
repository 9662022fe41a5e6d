import { describe, expect, it } from 'vitest';
import { heldUp, type Latency } from './slow-sockets.ts';

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
