import { breakages } from './breakages.ts';
import { walk } from './walk.ts';

export type WalksResult = {
  /** How many were walked, the failing one included. */
  walks: number;
  /** What was met on them, how often. */
  met: Map<string, number>;
  /** The first in which something did not hold. */
  failure?: { seed: number; broken: readonly string[]; story: readonly string[] };
};

/** Walks from one seed to the next until something does not hold, and sees that the same seed goes the same way. */
export async function runWalks({
  count,
  seed: first,
}: {
  count: number;
  seed: number;
}): Promise<WalksResult> {
  const met: WalksResult['met'] = new Map();
  for (let walks = 1; walks <= count; walks += 1) {
    const seed = first + walks - 1;
    // oxlint-disable-next-line no-await-in-loop -- one world after the other
    const walked = await walk(seed);
    for (const [what, times] of walked.met) met.set(what, (met.get(what) ?? 0) + times);
    if (walked.broken.length > 0) return { walks, met, failure: { seed, ...walked } };
  }
  const [one, other] = [await walk(first), await walk(first)];
  const differs = one.story.findIndex((line, index) => line !== other.story[index]);
  if (differs < 0) return { walks: count, met };
  const broken = [`the same seed goes two ways: ${one.story[differs]} | ${other.story[differs]}`];
  return { walks: count, met, failure: { seed: first, broken, story: one.story } };
}

/** What the first walk that sees the breakage says of it, and which one that is; undefined when none of so many does. */
export async function findBreakage(
  name: string,
  { count, seed: first }: { count: number; seed: number },
): Promise<{ seed: number; says: string } | undefined> {
  const found = breakages[name];
  if (!found) throw new Error(`No breakage is called ${name}.`);
  for (let seed = first; seed < first + count; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const { broken } = await walk(seed, found.breakage());
    const says = broken.find((one) => found.seen.test(one));
    if (says !== undefined) return { seed, says };
  }
  return undefined;
}
