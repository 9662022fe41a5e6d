import { it } from 'vitest';

const isFull = process.env['PAYOPS_FULL_COUNTS'] === '1';

/**
 * How many repetitions: all of them in `npm run test:full`, a representative share in `npm test`, which people wait for.
 */
export function countOf(counts: { full: number; share: number }): number {
  return isFull ? counts.full : counts.share;
}

/** A test too long for `npm test`: `.ci/run` runs it. */
export const itInFull: typeof it | (() => void) = isFull ? it : () => undefined;

/** All of them in full; in `npm test` every third, from a random one on, so that over time all are tried. */
export function someOf<One>(all: readonly One[]): readonly One[] {
  if (isFull) return all;
  const from = Math.floor(Math.random() * 3);
  return all.filter((_, index) => index % 3 === from);
}
