import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import { breakages } from '../../walks/breakages.ts';
import { runWalks } from '../../walks/run-walks.ts';
import { walk } from '../../walks/walk.ts';

/** The same walks each time, until something changes on the way: `npm run walks` takes others. */
const seed = 1;

const folder = mkdtempSync(join(tmpdir(), 'payops-walks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the whole life of alerts', () => {
  it('loses, doubles, shuffles and leaks nothing on random walks of events, clicks, faults and kills', async () => {
    const { failure, met } = await runWalks({ count: 10, seed });
    expect(failure?.violations, `npm run walks -- --count 1 --seed ${failure?.seed}`).toBeUndefined();
    // Walks on which nothing happens hold everything too.
    for (const what of ['cards acknowledged', 'cards recovered', 'messages alert', 'clicks refused']) {
      expect(met.get(what) ?? 0, `${what}, from seed ${seed}`).toBeGreaterThan(0);
    }
  });

  it('loses, doubles, shuffles and leaks nothing on a walk on the real file either', async () => {
    const path = join(folder, 'payops.sqlite');
    const openStore = (clock: { nowMs: number }) => openSqliteStore({ path, now: () => clock.nowMs });
    const { failure } = await runWalks({ count: 1, seed, openStore });
    expect(failure, `npm run walks -- --store sqlite --count 1 --seed ${failure?.seed}`).toBeUndefined();
  });

  it('goes the same way again with the same seed', async () => {
    const [one, other] = [await walk(seed, { keepsStory: true }), await walk(seed, { keepsStory: true })];
    expect(withoutIds(other.world.story)).toEqual(withoutIds(one.world.story));
  });
});

/** What the log calls an error by is random. */
function withoutIds(story: readonly string[]): string[] {
  return story.map((line) => line.replace(/"errorId":"\w+"/g, ''));
}

/** More walks than any of them needs. */
const mostWalks = 80;

describe('what watches those walks', () => {
  it.each(breakages)('sees $name', async ({ breakage, seen, seed: from = 1 }) => {
    const { failure } = await runWalks({ count: mostWalks, seed: from, breakage });
    expect(failure?.violations.join('\n') ?? 'nothing').toMatch(seen);
  });
});
