import { afterAll, beforeAll } from 'vitest';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import { startRedis, type RedisServer } from './redis-server.ts';

/** A Redis for all tests of the calling group, with one connection. */
export function redisForTests(): { server: () => RedisServer; connection: () => RedisConnection } {
  let opened: { server: RedisServer; connection: RedisConnection } | undefined;
  beforeAll(async () => {
    const server = await startRedis();
    const connection = connectRedis({ url: server.url, log: () => undefined });
    opened = { server, connection };
    await connection.tried;
  });
  afterAll(async () => {
    opened?.connection.close();
    await opened?.server.stop();
  });

  function inTime() {
    if (!opened) throw new Error('Redis is there from the first test on, not before.');
    return opened;
  }
  return { server: () => inTime().server, connection: () => inTime().connection };
}
