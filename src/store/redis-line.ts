import { createClient } from '@keyv/redis';
import { growingDelayMs } from '../deadline.ts';
import type { ClusterAddress, RedisNode, SentinelAddress } from '../domain/redis-address.ts';
import { reasonOf, type RedisNews } from './redis-news.ts';

/** The node-redis client that @keyv/redis carries: one connection for the store and the caches. */
export type RedisClient = ReturnType<typeof createRedisClient>;

/** One connection, however it is kept. */
export type RedisLine = {
  client: () => RedisClient;
  /** Drops that connection, unless it is dropped already, and makes another. */
  renew: (lost: RedisClient, failure: string) => void;
  /** Looks whether another node serves by now, and only then drops that connection for one to it. */
  doubt: (doubted: RedisClient, failure: string) => void;
  tried: Promise<void>;
  close: () => void;
};

const pingIntervalMs = 1000;
const socketSilenceMs = 3000;
const firstRetryMs = 100;
const longestRetryMs = 1000;
/** Where the address leads to a replica for good, a new connection with every call would be an attack on it. */
const renewGapMs = 2000;

/** One address, one client, which reconnects by itself. After a failover the address may lead to another node. */
export function keepRedis(url: string, news: RedisNews): RedisLine {
  const client = createRedisClient(url);
  let renewedAt = -Infinity;
  function connect(): void {
    // A failed attempt is told by the error event and repeated by the reconnect strategy.
    client.connect().catch(() => undefined);
  }
  client.on('error', (error: unknown) => news.lose(reasonOf(error)));
  client.on('ready', news.hear);
  client.on('ping-interval', news.hear);
  const tried = new Promise<void>((resolve) => {
    client.once('ready', () => resolve());
    client.once('error', () => resolve());
  });
  connect();

  return {
    client: () => client,
    renew(_lost, failure) {
      news.lose(failure, 2 * renewGapMs);
      if (performance.now() - renewedAt < renewGapMs) return;
      renewedAt = performance.now();
      if (client.isOpen) client.destroy();
      connect();
    },
    // There is no other node.
    doubt: () => undefined,
    tried,
    close() {
      if (client.isOpen) client.destroy();
    },
  };
}

function createRedisClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: pingIntervalMs,
    socket: {
      connectTimeout: 2000,
      socketTimeout: socketSilenceMs,
      reconnectStrategy: (retries) =>
        growingDelayMs(firstRetryMs, retries, longestRetryMs) + Math.random() * firstRetryMs,
    },
  });
}

/** A client of one node of several, not connected yet. Once lost it stays lost: another node may serve by then. */
export function openNodeClient(
  { tls, username, password }: ClusterAddress | SentinelAddress,
  { host, port }: RedisNode,
  connectTimeout: number,
): RedisClient {
  const socket = {
    host,
    port,
    connectTimeout,
    socketTimeout: socketSilenceMs,
    reconnectStrategy: false,
  } as const;
  return createClient({
    disableOfflineQueue: true,
    pingInterval: pingIntervalMs,
    socket: tls ? { ...socket, tls } : socket,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  });
}

/** Rejects as soon as the connection breaks: one that ends in the middle of its first words is otherwise waited for in vain. */
export async function connectOnce(client: RedisClient): Promise<void> {
  const broken = Promise.withResolvers<never>();
  client.once('error', broken.reject);
  await Promise.race([client.connect(), broken.promise]);
}
