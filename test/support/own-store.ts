import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * A file for a store of the running test, removed with it. Not shared by a module: test files share their worker's
 * modules, and only the first file would clean up.
 */
export function ownStorePath(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `payops-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'payops.sqlite');
}

/** A store on that file, closed with the test. */
export function ownStore(options: { path: string; now: () => number }): Store {
  const store = openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}
