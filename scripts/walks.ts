/**
 * `npm run walks -- --count 5000 --seed 7`: random walks through the life of a bot, with events, people, payments, kills
 * and faults, on a clock that the walk moves; compares what people see at the end with what really happened.
 * `--breakages` walks with each deliberate bug until it is detected. The last line has the count and the verdict, which
 * is also the exit code.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { breakages } from '../test/walks/breakages.ts';
import { findBreakage, runWalks } from '../test/walks/walk.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({
  options: { count: { type: 'string' }, seed: { type: 'string' }, breakages: { type: 'boolean' } },
});
const count = wholeNumber('count', values.count ?? (values.breakages === true ? '240' : '1000'));
const seed = wholeNumber(
  'seed',
  values.seed ?? (values.breakages === true ? '1' : String(randomInt(2 ** 30))),
);
const rare = [
  'charges paid',
  'charges declined',
  'charges approved by another',
  'links paid',
  'refunds',
  'held back',
  'digests of payment_failed',
  'codes of customers',
];
process.exitCode = (values.breakages === true ? await seeBreakages() : await walkAtRandom()) ? 0 : 1;

async function walkAtRandom(): Promise<boolean> {
  console.log(`Seed ${seed}; walk the same again with: npm run walks -- --count ${count} --seed ${seed}`);
  const startedAt = performance.now();
  const { walks, met, failure } = await runWalks({ count, seed });
  const seconds = (performance.now() - startedAt) / 1_000;
  const lines = [...met].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, times]) => `${what} ${times}`);
  console.log(`Met: ${lines.join(', ')}`);
  console.log(`${seconds.toFixed(1)} s: ${(walks / seconds).toFixed(1)} walks/s`);
  if (failure) {
    console.log(failure.story.join('\n'));
    console.log(`Broken:\n${failure.broken.join('\n')}`);
    console.log(`This walk alone: npm run walks -- --count 1 --seed ${failure.seed}`);
  }
  // A walk without events proves nothing: a hundred walks must meet each of these.
  const unmet = walks < 100 ? [] : rare.filter((what) => !met.has(what));
  if (unmet.length > 0) console.log(`Never met: ${unmet.join(', ')}`);
  const holds = failure === undefined && unmet.length === 0;
  console.log(`${walks} walks: ${holds ? 'all holds' : 'something does not hold'}`);
  return holds;
}

async function seeBreakages(): Promise<boolean> {
  const unseen: string[] = [];
  for (const name of Object.keys(breakages)) {
    const found = await findBreakage(name, { count, seed });
    console.log(found ? `${name}: walk ${found.seed}: ${found.says.slice(0, 160)}` : `${name}: NOT SEEN`);
    if (!found) unseen.push(name);
  }
  const all = Object.keys(breakages).length;
  console.log(`${all} breakages: ${unseen.length === 0 ? 'each is seen' : `${unseen.length} not seen`}`);
  return unseen.length === 0;
}
