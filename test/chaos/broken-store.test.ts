import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bundle } from '../support/bot-bundle.ts';
import type { Break } from './broken-store.ts';
import { bundleChaosBot, runChaos, type ChaosResult } from './run-chaos.ts';

/** References of forty events that the broken stores treat badly. */
const chosen = ['000007', '000017', '000027', '000037'];

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleChaosBot();
});
afterAll(() => bundle?.remove());

function run(broken: Break | undefined): Promise<ChaosResult> {
  return runChaos({
    store: 'sqlite',
    events: 40,
    kills: 1,
    seed: 1,
    compress: 20,
    channels: 10,
    bundle,
    faultShare: 0,
    leaseMs: 3_000,
    ...(broken ? { broken } : {}),
  });
}

function numbersOf(references: readonly string[]): string[] {
  return [...new Set(references.map((reference) => reference.slice(-6)))].toSorted();
}

/** Whether the checker would see it: the same chaos, with a store that lies to the bot. */
describe.concurrent('a small chaos', () => {
  it('finds nothing with the real store', async () => {
    expect(await run(undefined)).toMatchObject({ lost: [], doubled: [], misplaced: [], workLeft: 0 });
  });

  it('finds what a store lost that says it kept it', async () => {
    const result = await run('forgets');
    expect(result.acknowledged).toBe(40);
    expect(numbersOf(result.lost)).toEqual(chosen);
    expect(result.doubled).toEqual([]);
  });

  it('finds what was posted twice for a store that forgot that it was posted', async () => {
    const result = await run('repeats');
    expect(numbersOf(result.doubled)).toEqual(chosen);
    expect(result.lost).toEqual([]);
  });
});
