import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectRedis } from '../../src/store/redis-client.ts';

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

export function redisChannelWork(url: string, prefix: string): () => Promise<number> {
  return async () => {
    const connection = connectRedis({ url, log: () => undefined });
    try {
      await once(connection.client, 'ready');
      const lanes = await connection.client.keys(`{${prefix}}:work:C[A-Z]*`);
      const counts = await Promise.all(lanes.map((lane) => connection.client.zCard(lane)));
      return counts.reduce((sum, count) => sum + count, 0);
    } finally {
      connection.close();
    }
  };
}
