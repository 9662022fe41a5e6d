import { array, check, nat, property } from 'fast-check';
import { play } from './play.ts';

export type TapesResult = {
  /** How many tapes were played, the failing one included. */
  tapes: number;
  steps: number;
  verdicts: Map<string, number>;
  /** What broke and the shortest tape found that breaks it. */
  failure?: { message: string; tape: readonly number[]; path: string | null };
};

const tapeOfNumbers = array(nat({ max: 0xffff_ffff }), { minLength: 40, maxLength: 160, size: 'max' });

/** Plays random tapes until one breaks an invariant. The same seed gives the same tapes. */
export function runTapes(options: { count: number; seed: number; shrink: boolean }): TapesResult {
  const verdicts = new Map<string, number>();
  let steps = 0;
  let tapes = 0;
  let failed = false;
  const plays = property(tapeOfNumbers, (tape) => {
    // After the first failure the tapes are its own, cut ever shorter.
    if (!failed) tapes += 1;
    try {
      const result = play(tape);
      if (failed) return;
      steps += result.steps;
      verdicts.set(result.verdict, (verdicts.get(result.verdict) ?? 0) + 1);
    } catch (error) {
      failed = true;
      throw error;
    }
  });
  const details = check(plays, {
    numRuns: options.count,
    seed: options.seed,
    endOnFailure: !options.shrink,
  });
  const result = { tapes, steps, verdicts };
  if (!details.failed) return result;
  const message = details.errorInstance instanceof Error ? details.errorInstance.message : 'not an Error';
  const failure = { message, tape: details.counterexample?.[0] ?? [], path: details.counterexamplePath };
  return { ...result, failure };
}
