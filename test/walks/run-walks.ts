import type { Store } from '../../src/store/store.ts';
import type { Breakage } from './breakages.ts';
import { walk } from './walk.ts';
import type { World } from './world.ts';

export type WalksResult = {
  /** How many were walked, the failing one included. */
  walks: number;
  /** What was met on them, how often. */
  met: Map<string, number>;
  /** The first in which something did not hold. */
  failure?: { seed: number; violations: readonly string[] };
};

export type WalksOptions = {
  count: number;
  /** Of the first walk; each further one has the next. */
  seed: number;
  breakage?: Breakage;
  openStore?: (clock: { nowMs: number }) => Store;
};

/** Walks from one seed to the next until something does not hold. The same seed gives the same walk. */
export async function runWalks({ count, seed: first, ...options }: WalksOptions): Promise<WalksResult> {
  const met: WalksResult['met'] = new Map();
  for (let walks = 1; walks <= count; walks += 1) {
    const seed = first + walks - 1;
    // oxlint-disable-next-line no-await-in-loop -- one world after the other
    const { world, violations } = await walk(seed, options);
    meet(met, world);
    if (violations.length > 0) return { walks, met, failure: { seed, violations } };
  }
  return { walks: count, met };
}

function meet(met: WalksResult['met'], world: World): void {
  const add = (what: string, count: number): void => void met.set(what, (met.get(what) ?? 0) + count);
  for (const { card } of world.cards.values()) add(`cards ${card.kind}`, 1);
  for (const { post } of world.slack.messages) add(`messages ${post.kind}`, 1);
  for (const { kind } of world.slack.faulted) add(`answers ${kind}`, 1);
  for (const { answer } of world.clicks) add(`clicks ${answer?.kind ?? 'unanswered'}`, 1);
  add('events', world.sent.size);
}
