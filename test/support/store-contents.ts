import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as rest } from 'node:timers/promises';
import { detailsLane } from '../../src/messages/message-record.ts';
import { auditRetentionPrefix } from '../../src/audit/audit-retention.ts';
import { alarmPrefix } from '../../src/features/alerts/missing-events.ts';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import type { RedisClient } from '../../src/store/redis-node.ts';

/** Longer than a failover takes, including the Sentinels' notice. */
const patienceMs = 10_000;

/** A bot's store, read past the bot. */
export type StoreContents = {
  /** Records that are due by `untilMs`; by default all with a due time. */
  due: (untilMs?: number) => Promise<{ key: string; lane: string }[]>;
  /** The whole content as text. */
  dump: () => Promise<string>;
  /** Keys of records with this prefix, as the bot names them. */
  keys: (prefix: string) => Promise<string[]>;
  close: () => void;
};

/**
 * Due work that can still lead to a post: without the endless timers and counts of alarms and audit, and without the
 * removal of alert details some days later.
 */
export function workIn(due: readonly { key: string; lane: string }[]): { key: string; lane: string }[] {
  const timers = [alarmPrefix, auditRetentionPrefix, detailsLane];
  return due.filter(({ key, lane }) =>
    timers.every((timer) => !key.startsWith(timer) && !lane.startsWith(timer)),
  );
}

/** Records still to be posted or edited in a channel; other work, such as timers, may stay for ever. */
export async function channelWork(contents: StoreContents): Promise<number> {
  return (await contents.due()).filter(({ lane }) => /^(edits:)?C[A-Z]/.test(lane)).length;
}

export function sqliteContents(dataDir: string): StoreContents {
  const path = join(dataDir, 'payops.sqlite');
  return {
    async due(untilMs = Number.MAX_SAFE_INTEGER) {
      const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
      try {
        const rows = db.prepare('select key, lane from entries where due_at <= ?').all(untilMs);
        return rows.map(({ key, lane }) => ({ key: String(key), lane: String(lane) }));
      } finally {
        db.close();
      }
    },
    async dump() {
      const files = [path, `${path}-wal`].filter((file) => existsSync(file));
      return files.map((file) => readFileSync(file, 'latin1')).join('');
    },
    async keys(prefix) {
      const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
      try {
        const rows = db.prepare('select key from entries').all();
        return rows.map((row) => String(row['key'])).filter((key) => key.startsWith(prefix));
      } finally {
        db.close();
      }
    },
    close: () => undefined,
  };
}

/** Asks again while the store is away, fails over, or a busy machine is slow to connect. */
export async function askUntilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const endsAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > endsAt) {
        throw new Error(`The store could not be read within ${patienceMs} ms.`, { cause: error });
      }
      await rest(100);
    }
  }
}

export function redisContents(url: string, prefix: string): StoreContents {
  let opened: RedisConnection | undefined;

  async function withClient<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    const connection = (opened ??= connectRedis({ url, prefix, log: () => undefined }));
    return await askUntilAnswered(async () => {
      await connection.tried;
      return await work(connection.client);
    });
  }

  return {
    due: (untilMs = Infinity) =>
      withClient(async (client) => {
        const root = `{${prefix}}:work:`;
        const works = (await client.keys(`${root}*`)).map(async (work) => {
          const keys = await client.zRangeByScore(work, '-inf', untilMs);
          return keys.map((key) => ({ key, lane: work.slice(root.length) }));
        });
        return (await Promise.all(works)).flat();
      }),
    dump: () =>
      withClient(async (client) => {
        const keys = await client.keys('*');
        const texts = await Promise.all(keys.map((key) => readKey(client, key)));
        return texts.join('\n');
      }),
    keys: (begins) =>
      withClient(async (client) => {
        const root = `{${prefix}}:record:`;
        const keys = await client.keys(`${root}${begins}*`);
        return keys.map((key) => key.slice(root.length));
      }),
    close: () => opened?.close(),
  };
}

async function readKey(client: RedisClient, key: string): Promise<string> {
  switch (await client.type(key)) {
    case 'hash':
      return JSON.stringify([key, await client.hGetAll(key)]);
    case 'zset':
      return JSON.stringify([key, await client.zRangeWithScores(key, 0, -1)]);
    case 'set':
      return JSON.stringify([key, await client.sMembers(key)]);
    default:
      return JSON.stringify([key, await client.get(key)]);
  }
}
