import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that are no npm packages; tests that need a missing one are skipped with a notice. */
export type Program = 'redis-server' | 'chromium' | 'openssl' | 'nginx' | 'promtool';

/** The program's path, or undefined. With PAYOPS_SKIP_NOTHING=1 a missing program is an error: CI may skip nothing. */
export function findProgram(name: Program): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (folder !== '' && existsSync(path)) return path;
  }
  if (process.env['PAYOPS_SKIP_NOTHING'] === '1') {
    throw new Error(`${name} is not installed and nothing may be skipped: install it, then run again.`);
  }
  return undefined;
}
