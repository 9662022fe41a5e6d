import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutants } from './mutants.ts';
import { play, runTapes } from './play.ts';

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
    'given_back',
    'review',
  ]) {
    expect(verdicts.get(verdict) ?? 0, `${verdict}, seed ${seed}`).toBeGreaterThan(10);
  }
});

/** Declined at once, paid minutes later, its event lost, and the process still for a day before it tells. */
const toldADayLater = [
  0, 0, 0, 0, 0, 0, 0, 949324117, 1020262069, 0, 0, 0, 0, 0, 0, 0, 475902762, 0, 0, 1561050544, 3937918172, 0,
  0, 2477012610, 3404331827, 2954785026, 0, 0, 0, 0, 0, 0, 186535220,
].concat(Array<number>(33).fill(0));

it('sees the money that moved while its process stood still for a day', () => {
  expect(play(toldADayLater).verdict).toBe('approved');
});

it('knows where each of its mutants is made: its text stands exactly once', () => {
  const misplaced = mutants.flatMap(({ name, edits }) =>
    edits.filter(([file, from]) => readFileSync(file, 'utf8').split(from).length !== 2).map(() => name),
  );
  expect(misplaced).toEqual([]);
});
