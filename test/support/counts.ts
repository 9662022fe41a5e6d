import { it } from 'vitest';

const isFull = process.env['PAYOPS_FULL_COUNTS'] === '1';

/**
 * How often something is done that is the same each time. `npm run test:full` does all of it; `npm test`, which people
 * wait for, a share that shows the same.
 */
export function countOf(counts: { full: number; share: number }): number {
  return isFull ? counts.full : counts.share;
}

/** A test of so many that `npm test` has no time for it: `.ci/run` has a line of its own. */
export const itInFull: typeof it | (() => void) = isFull ? it : () => undefined;
