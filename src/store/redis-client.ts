import { createClient } from '@keyv/redis';
import { errorCode } from '../domain/error-code.ts';
import { growingDelayMs } from '../domain/growing-delay.ts';
import type { Log } from '../log.ts';

/** The node-redis client that @keyv/redis carries: one connection for the store and the caches. */
export type RedisClient = ReturnType<typeof createRedisClient>;

export type RedisConnection = {
  client: RedisClient;
  /** Resolves, and never rejects, when the first attempt to connect has come to its end, good or bad. */
  tried: Promise<void>;
  /** Drops the connection at once and for good; calls still under way reject. Close the store first. */
  close(): void;
};

const pingIntervalMs = 1000;
const silenceMs = 3000;
const firstRetryMs = 100;
const longestRetryMs = 1000;

/**
 * Connects in the background and stays connected: returns at once, also when Redis is away, and keeps
 * trying; it is back within 3 s of Redis's return. While it is away every call fails at once instead of
 * waiting in a queue whose calls would be carried out long after their callers have given up.
 * Each outage is logged once, and its end; the address's user and password never are. TLS is rediss://.
 * Throws only for an address that can never work, without repeating it.
 */
export function connectRedis({ url, log }: { url: string; log: Log }): RedisConnection {
  const client = createRedisClient(checkUrl(url));
  let away = false;
  let heardAt = performance.now();

  function hear(): void {
    heardAt = performance.now();
    if (away) log('info', 'Redis answers again.');
    away = false;
  }
  function lose(failure: string): void {
    if (away) return;
    away = true;
    log('error', 'Redis cannot be used. Every store call fails until it is back; trying again.', {
      failure,
      fix: 'Check that Redis runs and that the address, password and TLS setting are right.',
    });
  }
  function connect(): void {
    // A failed attempt is told by the error event and repeated by the reconnect strategy.
    client.connect().catch(() => undefined);
  }

  client.on('error', (error: unknown) => lose(reasonOf(error)));
  client.on('ready', hear);
  client.on('ping-interval', hear);
  // The socket's own timeout starts anew with every write, so under steady calls a connection whose other
  // end has vanished without a word would be kept for the many minutes of TCP's patience.
  const watchdog = setInterval(() => {
    if (!client.isReady || performance.now() - heardAt <= silenceMs) return;
    lose(`No answer for ${silenceMs} ms`);
    client.destroy();
    connect();
  }, pingIntervalMs / 2).unref();
  const tried = new Promise<void>((resolve) => {
    client.once('ready', () => resolve());
    client.once('error', () => resolve());
  });
  connect();

  return {
    client,
    tried,
    close() {
      clearInterval(watchdog);
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
      socketTimeout: silenceMs,
      reconnectStrategy: (retries) =>
        growingDelayMs(firstRetryMs, retries, longestRetryMs) + Math.random() * firstRetryMs,
    },
  });
}

function checkUrl(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : undefined;
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    throw new Error(
      'The Redis address must look like redis://host:6379 or rediss://user:password@host:6379.',
    );
  }
  return text;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return [errorCode(error), error.message].filter((part) => part !== undefined && part !== '').join(': ');
}
