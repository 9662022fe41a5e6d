import { createClient } from '@keyv/redis';
import { errorCode } from '../domain/failure.ts';
import type { RedisAddress, RedisNode } from '../domain/redis-address.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { Log } from '../log.ts';

const pingIntervalMs = 1000;
const socketSilenceMs = 3000;

/** The node-redis client that @keyv/redis carries: one connection for the store and the caches. */
export type RedisClient = ReturnType<typeof openNodeClient>;

/** A client of one node, not connected yet. Once lost it stays lost: another node may serve by then. */
export function openNodeClient(address: RedisAddress, node: RedisNode | undefined, connectTimeout: number) {
  const socket = { connectTimeout, socketTimeout: socketSilenceMs, reconnectStrategy: false } as const;
  const usual = { disableOfflineQueue: true, pingInterval: pingIntervalMs };
  if (address.kind === 'alone') return createClient({ ...usual, url: address.url, socket });
  const { host, port } = node ?? address.nodes[0];
  const at = { ...socket, host, port };
  const { tls, username, password } = address;
  return createClient({
    ...usual,
    socket: tls ? { ...at, tls } : at,
    ...withoutUndefined({ username, password }),
  });
}

/** Rejects as soon as the connection breaks: one that ends in the middle of its first words is otherwise waited for in vain. */
export async function connectOnce(client: RedisClient): Promise<void> {
  const broken = Promise.withResolvers<never>();
  client.once('error', broken.reject);
  await Promise.race([client.connect(), broken.promise]);
}

/** What Redis itself answers a caller whom it does not let in. */
const refusal = /^(WRONGPASS|NOAUTH|NOPERM)\b/;

/** Tells an outage once, and its end once; and once in it that Redis refuses the bot, whatever stood in the way before. */
export type RedisNews = {
  /** Redis has given a sign of life. */
  hear: () => void;
  /** `forMs`: a sign of life within that long is not the end of the outage. */
  lose: (failure: string, forMs?: number) => void;
  /** Since the last sign of life. */
  silentMs: () => number;
};

export function createRedisNews(log: Log): RedisNews {
  let away = false;
  let isRefused = false;
  let heardAt = performance.now();
  let lostUntil = 0;
  return {
    hear() {
      heardAt = performance.now();
      if (heardAt < lostUntil) return;
      if (away) log('info', 'Redis answers again.');
      away = false;
      isRefused = false;
    },
    lose(failure, forMs = 0) {
      lostUntil = Math.max(lostUntil, performance.now() + forMs);
      const isRefusal = refusal.test(failure);
      if (away && (isRefused || !isRefusal)) return;
      away = true;
      isRefused = isRefusal;
      log('error', 'Redis cannot be used. Every store call fails until it is back; trying again.', {
        failure,
        fix: 'Check that Redis runs and that the address, password and TLS setting are right.',
      });
    },
    silentMs: () => performance.now() - heardAt,
  };
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return [errorCode(error), error.message].filter((part) => part !== undefined && part !== '').join(': ');
}
