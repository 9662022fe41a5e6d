/**
 * `npm run walks -- --count 5000 --seed 7`: walks at random through the life of alerts, with duplicates, clicks, kills,
 * a Slack that fails and rules that change, on a clock that the walk moves, and holds what stands in Slack at the end against
 * what the senders and the people know. `--store sqlite` walks on the real file. The last line is the count and the
 * verdict; the exit code follows it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { openSqliteStore } from '../src/store/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { runWalks } from '../test/walks/run-walks.ts';
import { walk } from '../test/walks/walk.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({
  options: { count: { type: 'string' }, seed: { type: 'string' }, store: { type: 'string' } },
});
const count = wholeNumber('count', values.count ?? '2000');
const seed = wholeNumber('seed', values.seed ?? String(randomInt(2 ** 30)));
const folder = mkdtempSync(join(tmpdir(), 'payops-walks-'));
let files = 0;

function openFile(clock: { nowMs: number }): Store {
  files += 1;
  return openSqliteStore({ path: join(folder, `${files}.sqlite`), now: () => clock.nowMs });
}
const on = values.store === 'sqlite' ? { openStore: openFile } : {};
const again = values.store === 'sqlite' ? ' --store sqlite' : '';

console.log(
  `Seed ${seed}; walk the same again with: npm run walks -- --count ${count} --seed ${seed}${again}`,
);
const startedAt = performance.now();
const { walks, met, failure } = await runWalks({ count, seed, ...on });
const seconds = (performance.now() - startedAt) / 1_000;

const lines = [...met].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, times]) => `${what} ${times}`);
console.log(`Met: ${lines.join(', ')}`);
console.log(`${seconds.toFixed(1)} s: ${(walks / seconds).toFixed(1)} walks/s`);
if (failure) {
  const { world } = await walk(failure.seed, { ...on, keepsStory: true });
  console.log(world.story.join('\n'));
  console.log(`Broken:\n${failure.violations.join('\n')}`);
  console.log(`This walk alone: npm run walks -- --count 1 --seed ${failure.seed}${again}`);
}
rmSync(folder, { recursive: true, force: true });
console.log(failure ? `${walks} walks: something does not hold` : `${walks} walks: all holds`);
process.exitCode = failure ? 1 : 0;
