import { accessSync, constants, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

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

const whole = 'test/e2e/*.test.ts';
/** They tell what hangs from what is slow, or need mocks of modules: vi.mock does nothing where modules are shared. */
const timed = [
  'test/{store,chaos,http,hostile}/**/*.test.ts',
  'test/e2e/{chaos,charge-hang,hang,outages,storm,undelivered}.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 30_000,
    ...(folder === undefined || process.env['TMPDIR'] !== undefined ? {} : { env: { TMPDIR: folder } }),
    coverage: { include: ['src/**/*.ts'], exclude: ['src/payments/schema.d.ts', 'src/playground/page/**'] },
    // One after the other, each with as many workers as two processors can stand.
    projects: [
      {
        // Real bots, which spend half of the time on waiting: retries, leases, browsers.
        extends: true,
        test: {
          name: 'whole',
          include: [whole],
          exclude: timed,
          globalSetup: 'test/support/warm-bot.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'timed',
          include: timed,
          globalSetup: 'test/support/warm-bot.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // Modules are loaded once for each worker instead of once for each file, which must leave nothing behind.
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [whole, ...timed],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
