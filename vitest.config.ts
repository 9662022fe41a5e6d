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

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    ...(folder === undefined || process.env['TMPDIR'] !== undefined ? {} : { env: { TMPDIR: folder } }),
    coverage: { include: ['src/**/*.ts'], exclude: ['src/payments/schema.d.ts', 'src/playground/page/**'] },
  },
});
