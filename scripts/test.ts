/**
 * `npm test`: types, lint, format, freshness of what is generated, then the tests. Goes through all of
 * them even when one fails, says what was skipped because a program is missing, and ends with the counts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, type Program } from '../test/support/programs.ts';

const bin = (name: string): string => join('node_modules', '.bin', name);
const folder = mkdtempSync(join(tmpdir(), 'payops-test-'));
const resultsPath = join(folder, 'results.json');

type Step = [name: string, command: string, args: string[]];

/** They run beside the tests, which wait as much as they work. */
const checks: Step[] = [
  ['types', bin('tsc'), ['-p', '.']],
  ['types of the playground page', bin('tsc'), ['-p', 'src/playground/page']],
  ['lint', bin('oxlint'), ['--type-aware', 'src', 'test', 'scripts', 'bench']],
  ['format', bin('oxfmt'), ['--check', 'src', 'test', 'scripts', 'bench', 'vitest.config.ts']],
  ['generated settings', process.execPath, ['scripts/generate-settings.ts', '--check']],
];
const tests: Step = [
  'tests',
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${resultsPath}`,
    ...process.argv.slice(2),
  ],
];

const failed: string[] = [];

/** `shown` at once, or when it has ended: two that write at a time would be read by nobody. */
async function run([name, command, args]: Step, shown: 'at once' | 'at its end'): Promise<void> {
  const startedAt = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', shown === 'at once' ? 'inherit' : 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (shown === 'at once') process.stderr.write(text);
      else said += text;
    });
  }
  const [status] = (await once(child, 'close')) as [number | null];
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${said}${status === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
  if (status !== 0) failed.push(name);
}

async function checkStatically(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- beside the tests one at a time is enough for two processors
  for (const step of checks) await run(step, 'at its end');
}

await Promise.all([checkStatically(), run(tests, 'at once')]);

const whatNeeds: Record<Program, string> = {
  'redis-server': 'everything on a real Redis (apt-get install redis-server)',
  chromium: 'everything in a real browser (apt-get install chromium)',
  openssl: 'the store over TLS (apt-get install openssl)',
};
for (const [program, parts] of Object.entries(whatNeeds) as [Program, string][]) {
  if (!isInstalled(program)) console.log(`Skipped, because ${program} is not installed: ${parts}.`);
}
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}.`);
console.log(countsLine());
rmSync(folder, { recursive: true, force: true });
process.exitCode = failed.length > 0 ? 1 : 0;

function isInstalled(program: Program): boolean {
  try {
    return findProgram(program) !== undefined;
  } catch {
    return false;
  }
}

/** The counts alone on the last line. No results file means that vitest itself fell over: one failure. */
function countsLine(): string {
  try {
    const results = JSON.parse(readFileSync(resultsPath, 'utf8')) as Record<string, number>;
    const skipped = (results['numPendingTests'] ?? 0) + (results['numTodoTests'] ?? 0);
    return `${results['numPassedTests']} passed, ${results['numFailedTests']} failed, ${skipped} skipped`;
  } catch {
    return '0 passed, 1 failed, 0 skipped';
  }
}
