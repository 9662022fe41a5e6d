import { accessSync, constants, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const nodeWanted = 24;
// npm scripts bring it; what is started past them has the machine's own.
if (Number(process.versions.node.split('.')[0]) < nodeWanted) {
  throw new Error(
    `The tests need Node ${nodeWanted}, and this is Node ${process.versions.node}: run npm test, or npm exec vitest run <file>, which bring it.`,
  );
}

/**
 * Where the tests keep their stores, if the machine has it: with enough room, in memory. Every write of a store waits
 * for the disk there is, and no test pulls the plug: what ends with SIGKILL keeps what it wrote either way.
 */
function memoryFolder(): string | undefined {
  const folder = '/dev/shm';
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= 2 * 1024 ** 3 ? folder : undefined;
  } catch {
    return undefined;
  }
}

const folder = memoryFolder();

/** Real bots, servers and browsers: these tests mostly wait. */
const waiting = [
  'test/{e2e,chaos,store,http}/**/*.test.ts',
  'test/hostile/bot/*.test.ts',
  'test/playground/page/page.test.ts',
  'test/features/customer-code/code-pages.test.ts',
];
/** With `vi.mock`, which does nothing where modules are shared. */
const mocked = ['test/hostile/{requests,texts}/*.test.ts', 'test/cli/connect/written-files.test.ts'];
/** Too long for `npm test`, which people wait for: `npm run test:full` and `.ci/run` run them. */
const long = [
  'test/e2e/guide.test.ts',
  'test/e2e/kills.test.ts',
  'test/e2e/rules-fire.test.ts',
  'test/walks/walks.test.ts',
  'test/chaos/chaos.test.ts',
];
const left = process.env['PAYOPS_FULL_COUNTS'] === '1' ? [] : long;

export default defineConfig({
  test: {
    // What hangs fails by these. How soon a thing is done is no test's to limit so: beside other work, and on
    // a slower machine, the same test takes many times as long, and a test of a pace says so itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Modules are loaded once for each worker instead of once for each file, which must leave nothing behind.
    isolate: false,
    // Node loads them as it loads the bot, its types stripped: Vite's transforms cost half as much again.
    // Vitest's own loader is for mocks, and strips the types of each module once more.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    setupFiles: 'test/support/keep-compiled.ts',
    ...(folder === undefined || process.env['TMPDIR'] !== undefined ? {} : { env: { TMPDIR: folder } }),
    coverage: { include: ['src/**/*.ts'], exclude: ['src/payments/schema.d.ts', 'src/playground/page/**'] },
    // One group after the other; `npm test` runs those that compute beside the others (scripts/test.ts).
    maxWorkers: 2,
    projects: [
      {
        // One project, so that a worker loads the bot once for all its files: vitest ends a worker before the next
        // project's file.
        extends: true,
        test: {
          name: 'waiting',
          include: waiting,
          exclude: left,
          globalSetup: ['test/support/warm-bot.ts', 'test/support/browser.ts'],
          maxConcurrency: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'mocked',
          include: mocked,
          isolate: true,
          experimental: { viteModuleRunner: true },
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          // In npm test they get the processor time that the waiting ones leave, which at times is almost none.
          testTimeout: 300_000,
          include: ['test/**/*.test.ts'],
          exclude: [...waiting, ...mocked, ...left],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
