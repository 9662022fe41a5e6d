/**
 * `npm test`: types, lint, format and freshness of generated files, beside the tests. Runs all of them even if one fails,
 * names what was skipped because a program is missing, and ends with the counts. Arguments go to vitest: `npm test --
 * test/e2e/link`; but `--beside=8` keeps eight processors busy meanwhile (`npm run test:loaded`): a slow machine must
 * fail no test.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { findProgram, type Program } from '../test/support/programs.ts';

const bin = (name: string): string => join('node_modules', '.bin', name);
const folder = mkdtempSync(join(tmpdir(), 'payops-test-'));
const besideOption = '--beside=';
const typed = process.argv.slice(2);
const beside = Number(typed.find((word) => word.startsWith(besideOption))?.slice(besideOption.length) ?? 0);

type Step = { name: string; command: string; args: string[]; env?: Record<string, string> };

/** These run beside the tests, one after the other. */
const checks: Step[] = [
  {
    // One run for both: tsc would read all the code again for the types alone.
    name: 'types and lint',
    command: bin('oxlint'),
    args: ['--type-aware', '--type-check', 'src', 'test', 'scripts', 'bench', 'vitest.config.ts'],
    // Without garbage collection it takes 2.2 GB instead of 2.0, and a tenth less time.
    env: { GOGC: 'off' },
  },
  {
    name: 'format',
    command: bin('oxfmt'),
    args: ['--check', 'src', 'test', 'scripts', 'bench', 'vitest.config.ts'],
  },
  {
    name: 'generated settings',
    command: process.execPath,
    args: ['scripts/generate-settings.ts', '--check'],
  },
];

/**
 * The projects of vitest.config.ts in two lanes: tests that mostly wait, for real bots, servers and browsers, beside
 * tests that mostly compute. The latter have three workers, so that they use both processors of two once the others are
 * done: some of theirs wait, too.
 */
const lanes = [
  // For tests with several processes a retry distinguishes a bug from a busy machine; retried tests are named at the end.
  { name: 'tests that wait', projects: ['waiting'], workers: 6, retries: 1 },
  { name: 'tests that compute', projects: ['mocked', 'parts'], workers: 3, retries: 0 },
] as const;
const resultsPath = ({ name }: { name: string }): string => join(folder, `${name}.json`);
const testsOf = (lane: (typeof lanes)[number]): Step => ({
  name: lane.name,
  env: { VITEST_MAX_WORKERS: String(lane.workers) },
  command: process.execPath,
  args: [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...lane.projects.map((project) => `--project=${project}`),
    '--passWithNoTests',
    `--retry=${lane.retries}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${resultsPath(lane)}`,
    ...typed.filter((word) => !word.startsWith(besideOption)),
  ],
});

/** Node keeps there what it has compiled, by content, for all these processes and the next run. */
const compiled = resolve('node_modules/.cache/compiled');
const failed: string[] = [];

/** `shown`: output at once, or when the step has ended, so that two steps don't mix. */
async function run({ name, command, args, env }: Step, shown: 'at once' | 'at its end'): Promise<void> {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    stdio: ['ignore', shown === 'at once' ? 'inherit' : 'pipe', 'pipe'],
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...env },
  });
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
  for (const step of checks) await run(step, 'at its end');
}

// Each keeps one processor busy as long as this process exists.
const burn = 'const parent = process.ppid; while (process.ppid === parent);';
const burning = Array.from({ length: beside }, () => spawn(process.execPath, ['-e', burn]));
const [waiting, computing] = lanes;
const waits = run(testsOf(waiting), 'at once');
// Those end last. What is started from here on gets mostly the processor time that they leave.
if (beside === 0) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
await Promise.all([waits, checkStatically(), run(testsOf(computing), 'at its end')]);

for (const child of burning) child.kill('SIGKILL');

const whatNeeds: Partial<Record<Program, string>> = {
  'redis-server': 'everything on a real Redis (apt-get install redis-server)',
  chromium: 'everything in a real browser (apt-get install chromium)',
  openssl: 'the store over TLS (apt-get install openssl)',
  nginx: 'the mirror of docs/webhooks.md (apt-get install nginx-light)',
};
for (const [program, parts] of Object.entries(whatNeeds) as [Program, string][]) {
  if (!isInstalled(program)) console.log(`Skipped, because ${program} is not installed: ${parts}.`);
}
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}.`);
const results = lanes.map(readResults);
// Repeated at the end, for readers who only have the end of the log.
for (const name of results.flatMap((lane) => testsThatSaid(lane, 'passed'))) {
  console.log(`Passed only when tried again: ${name}`);
}
for (const name of results.flatMap((lane) => testsThatSaid(lane, 'failed'))) console.log(`✗ ${name}`);
const hasRun = results.some((lane) => (lane?.numTotalTests ?? 1) > 0);
if (!hasRun)
  console.log('No test has run. Those that npm test leaves out (vitest.config.ts) are in npm run test:full.');
console.log(countsLine(results));
rmSync(folder, { recursive: true, force: true });
process.exitCode = failed.length > 0 || !hasRun ? 1 : 0;

function isInstalled(program: Program): boolean {
  try {
    return findProgram(program) !== undefined;
  } catch {
    return false;
  }
}

type Results = {
  numTotalTests: number;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { name: string; message: string; assertionResults: Assertion[] }[];
};
type Assertion = { status: string; fullName: string; failureMessages: string[] };

/** Undefined if vitest itself failed. */
function readResults(lane: { name: string }): Results | undefined {
  try {
    return JSON.parse(readFileSync(resultsPath(lane), 'utf8')) as Results;
  } catch {
    return undefined;
  }
}

/**
 * File, name and first error line of each test that `failed`, or that `passed` after an error. A file that failed to load
 * counts as one test.
 */
function testsThatSaid(lane: Results | undefined, ended: 'passed' | 'failed'): string[] {
  return (lane?.testResults ?? []).flatMap(({ name, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const isUnloaded = assertionResults.length === 0 && message !== '';
    if (isUnloaded) return ended === 'failed' ? [`${file}: ${firstLine(message)}`] : [];
    return assertionResults
      .filter(({ status, failureMessages }) => status === ended && failureMessages.length > 0)
      .map(({ fullName, failureMessages: [said = ''] }) => `${file}: ${fullName}: ${firstLine(said)}`);
  });
}

function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0] ?? '';
}

/** The counts for the last line. A lane without results is one failure. */
function countsLine(all: readonly (Results | undefined)[]): string {
  let [passed, failures, skipped] = [0, 0, 0];
  for (const lane of all) {
    passed += lane?.numPassedTests ?? 0;
    failures += lane?.numFailedTests ?? 1;
    skipped += (lane?.numPendingTests ?? 0) + (lane?.numTodoTests ?? 0);
  }
  return `${passed} passed, ${failures} failed, ${skipped} skipped`;
}
