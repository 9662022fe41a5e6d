import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { runTapes } from './run-tapes.ts';

it('holds every invariant on random tapes of crashes, lost answers, late requests and clicks', () => {
  const seed = randomInt(2 ** 31);
  const { failure, verdicts } = runTapes({ count: 5_000, seed, shrink: true });
  expect(failure, `seed ${seed}`).toBeUndefined();
  // Tapes that never get anywhere hold every invariant too.
  for (const verdict of [
    'approved',
    'declined',
    'rejected',
    'abandoned',
    'wrong_codes',
    'expired',
    'review',
  ]) {
    expect(verdicts.get(verdict) ?? 0, `${verdict}, seed ${seed}`).toBeGreaterThan(10);
  }
});
