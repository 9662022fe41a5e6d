/**
 * How often something is done that is the same each time. `npm run test:full` does all of it; `npm test`, which people
 * wait for, a share that shows the same.
 */
export function countOf(counts: { full: number; share: number }): number {
  return process.env['PAYOPS_FULL_COUNTS'] === '1' ? counts.full : counts.share;
}
