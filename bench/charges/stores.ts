import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { findProgram } from '../../test/support/programs.ts';
import { startRedis } from '../../test/support/redis-server.ts';

/** One empty store of its own. */
export type Opened = {
  store: Store;
  /** Bytes it takes by now: of the file, or of Redis's memory (of all stores in that Redis). */
  bytes(): Promise<number>;
  /** How many lanes have work that nobody holds: of charges, as many as are pending. */
  waitingLanes(): Promise<number>;
};

export type StoreKind = {
  name: 'SQLite' | 'Redis';
  /** New and empty. */
  open(): Promise<Opened>;
  /** Closes all that were opened, and leaves nothing behind. */
  close(): Promise<void>;
};

/** On a file, as the embedded default has it: WAL and synchronous=FULL. */
export function sqliteKind(): StoreKind {
  const folder = mkdtempSync(join(tmpdir(), 'payops-bench-'));
  const opened: { store: Store; db: DatabaseSync }[] = [];
  return {
    name: 'SQLite',
    open() {
      const path = join(folder, `${opened.length}.sqlite`);
      const store = openSqliteStore({ path, now: () => Date.now() });
      const db = new DatabaseSync(path, { timeout: 5_000 });
      opened.push({ store, db });
      return Promise.resolve({
        store,
        bytes() {
          db.exec('pragma wal_checkpoint(truncate)');
          return Promise.resolve(statSync(path).size);
        },
        waitingLanes() {
          const sql = 'select count(*) as lanes from lanes where free_at is null and head_at is not null';
          return Promise.resolve(Number(db.prepare(sql).get()?.['lanes']));
        },
      });
    },
    async close() {
      await Promise.all(opened.map(({ store }) => store.close()));
      for (const { db } of opened) db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** On a Redis of its own with appendonly yes and appendfsync always. Undefined when it is not installed. */
export async function redisKind(): Promise<StoreKind | undefined> {
  if (findProgram('redis-server') === undefined) return undefined;
  const server = await startRedis();
  const connection = connectRedis({ url: server.url, log: () => undefined });
  await connection.tried;
  const stores: Store[] = [];
  return {
    name: 'Redis',
    open() {
      const prefix = `bench-${stores.length}`;
      const store = openRedisStore(connection.commands, { prefix });
      stores.push(store);
      return Promise.resolve({
        store,
        async bytes() {
          const text = await connection.client.info('memory');
          return Number(/^used_memory:(\d+)/m.exec(text)?.[1]);
        },
        waitingLanes: () => connection.client.zCard(`{${prefix}}:ready`),
      });
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      connection.close();
      await server.stop();
    },
  };
}

export type Calls = { create: number; read: number; write: number; list: number; take: number };

/** The same store, with its calls counted, and how long each `take` was that gave something. */
export function counting(store: Store): { store: Store; calls: Calls; takeMs: number[] } {
  const calls: Calls = { create: 0, read: 0, write: 0, list: 0, take: 0 };
  const takeMs: number[] = [];
  return {
    calls,
    takeMs,
    store: {
      ...store,
      create(...given) {
        calls.create += 1;
        return store.create(...given);
      },
      read(key) {
        calls.read += 1;
        return store.read(key);
      },
      write(...given) {
        calls.write += 1;
        return store.write(...given);
      },
      list(...given) {
        calls.list += 1;
        return store.list(...given);
      },
      async take(...given) {
        calls.take += 1;
        const startedAt = performance.now();
        const taken = await store.take(...given);
        if (taken.length > 0) takeMs.push(performance.now() - startedAt);
        return taken;
      },
    },
  };
}

export function callsInAll({ create, read, write, list, take }: Calls): number {
  return create + read + write + list + take;
}
