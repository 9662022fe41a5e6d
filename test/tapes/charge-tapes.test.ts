import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { verdicts } from '../../src/domain/charge.ts';
import { countOf } from '../support/counts.ts';
import { mutants } from './mutants.ts';
import { play, runTapes } from './play.ts';

it('holds every invariant on random tapes of crashes, lost answers, late requests and clicks', () => {
  const seed = randomInt(2 ** 31);
  const { failure, verdicts: met } = runTapes({
    count: countOf({ full: 5_000, share: 1_000 }),
    seed,
    shrink: true,
  });
  expect(failure, `seed ${seed}`).toBeUndefined();
  // Tapes that do nothing hold every invariant too, so require each outcome.
  for (const verdict of verdicts) {
    expect(met.get(verdict) ?? 0, `${verdict}, seed ${seed}`).toBeGreaterThan(10);
  }
});

/** Declined at once, paid minutes later, its event lost, and the process suspended for a day before it posts. */
const toldADayLater = [
  0, 0, 0, 0, 0, 0, 0, 949324117, 1020262069, 0, 0, 0, 0, 0, 0, 0, 475902762, 0, 0, 1561050544, 3937918172, 0,
  0, 2477012610, 3404331827, 2954785026, 0, 0, 0, 0, 0, 0, 186535220,
].concat(Array<number>(33).fill(0));

it('detects money that moved while its process was suspended for a day', () => {
  expect(play(toldADayLater).verdict).toBe('approved');
});

it('finds the text of each mutant exactly once in its file', () => {
  const misplaced = mutants.flatMap(({ name, edits }) =>
    edits.filter(([file, from]) => readFileSync(file, 'utf8').split(from).length !== 2).map(() => name),
  );
  expect(misplaced).toEqual([]);
});
