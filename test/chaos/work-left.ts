import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectRedis, type RedisClient } from '../../src/store/redis-client.ts';
import { within } from './within.ts';

/** For a busy machine. */
const answerMs = 20_000;

/** Records that are still to be posted in a channel. Other work, such as timers, may be in a store for ever. */
export function sqliteChannelWork(dataDir: string): () => Promise<number> {
  const path = join(dataDir, 'payops.sqlite');
  return async () => {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    try {
      const count = "select count(*) as left from entries where due_at is not null and lane glob 'C[A-Z]*'";
      return Number(db.prepare(count).get()?.['left']);
    } finally {
      db.close();
    }
  };
}

/** Rejects when Redis does not answer within a while. */
export function redisChannelWork(url: string, prefix: string): () => Promise<number> {
  return async () => {
    const connection = connectRedis({ url, log: () => undefined });
    try {
      await within(answerMs, 'Redis takes a connection', connection.tried);
      return await within(answerMs, 'Redis says what is to be posted', countWork(connection.client, prefix));
    } finally {
      connection.close();
    }
  };
}

async function countWork(client: RedisClient, prefix: string): Promise<number> {
  const lanes = await client.keys(`{${prefix}}:work:C[A-Z]*`);
  const counts = await Promise.all(lanes.map((lane) => client.zCard(lane)));
  return counts.reduce((sum, count) => sum + count, 0);
}
