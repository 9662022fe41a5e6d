/**
 * `npm run tapes -- --count 1000000 --seed 7`: plays random tapes of crashes, lost answers, late requests and clicks
 * against the charge machine. The last line has the count and the verdict, which is also the exit code.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runTapes } from '../test/tapes/play.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string' } } });
const count = wholeNumber('count', values.count ?? '50000');
const seed = wholeNumber('seed', values.seed ?? String(randomInt(2 ** 31)));

console.log(`Seed ${seed}; play the same tapes again with: npm run tapes -- --count ${count} --seed ${seed}`);
const startedAt = performance.now();
const { tapes, steps, verdicts, failure } = runTapes({ count, seed, shrink: true });
const seconds = (performance.now() - startedAt) / 1_000;

const ends = [...verdicts].toSorted(([, a], [, b]) => b - a).map(([verdict, times]) => `${verdict} ${times}`);
console.log(`Ends: ${ends.join(', ')}`);
console.log(
  `${seconds.toFixed(1)} s: ${Math.round(tapes / seconds)} tapes/s, ${Math.round(steps / seconds)} machine steps/s, the world around them included`,
);
if (failure) console.log(`Broken: ${failure.message}\nTape: ${JSON.stringify(failure.tape)}`);
console.log(failure ? `${tapes} tapes: an invariant is broken` : `${tapes} tapes: all invariants hold`);
process.exitCode = failure ? 1 : 0;
