import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { redisContents, sqliteContents, type StoreContents } from '../support/store-contents.ts';

/** One empty store, opened by two replicas. */
export type TwoReplicas = { one: Store; two: Store; contents: StoreContents; close: () => Promise<void> };

/**
 * Runs the same tests on SQLite and on Redis; without an installed Redis those are skipped, and reported as skipped.
 */
export function onBothStores(name: string, tests: (open: () => Promise<TwoReplicas>) => void): void {
  describe(`${name} on SQLite`, () => {
    const folders: string[] = [];
    afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
    tests(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'payops-two-'));
      folders.push(folder);
      const path = join(folder, 'payops.sqlite');
      const [one, two] = [0, 1].map(() => openSqliteStore({ path, now: () => Date.now() })) as [Store, Store];
      return {
        one,
        two,
        contents: sqliteContents(folder),
        async close() {
          await Promise.all([one.close(), two.close()]);
        },
      };
    });
  });

  const missing = findProgram('redis-server') === undefined;
  if (missing) console.warn(`SKIPPED: ${name} on Redis, because redis-server is not installed.`);
  describe.skipIf(missing)(`${name} on Redis`, () => {
    let server: RedisServer;
    let prefixes = 0;
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server?.stop());
    tests(async () => {
      prefixes += 1;
      const prefix = `two-${prefixes}`;
      const replicas = [0, 1].map(() => connectRedis({ url: server.url, log: () => undefined }));
      await Promise.all(replicas.map(({ tried }) => tried));
      const [one, two] = replicas.map(({ commands }) => openRedisStore(commands, { prefix })) as [
        Store,
        Store,
      ];
      const contents = redisContents(server.url, prefix);
      return {
        one,
        two,
        contents,
        async close() {
          contents.close();
          await Promise.all([one.close(), two.close()]);
          for (const replica of replicas) replica.close();
        },
      };
    });
  });
}
