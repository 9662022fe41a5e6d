import KeyvRedis from '@keyv/redis';
import { parseRedisAddress, redisAddressForms } from '../domain/redis-address.ts';
import type { Log } from '../log.ts';
import { followRedis } from './follow-redis.ts';
import { createRedisCommands, type RedisCommands } from './redis-commands.ts';
import { keepRedis, type RedisClient } from './redis-line.ts';
import { createRedisNews } from './redis-news.ts';

export type { RedisClient } from './redis-line.ts';

export type RedisConnection = {
  /** The connection as it stands now. With a Cluster or Sentinels ask anew each time: a failover makes another. */
  readonly client: RedisClient;
  /** For the store and its check: always on the connection that stands. */
  readonly commands: RedisCommands;
  /** For a cache; it keeps the connection that stood when it was made. */
  cacheAdapter: () => KeyvRedis<unknown>;
  /** Resolves, and never rejects, when the first attempt to connect has come to its end, good or bad. */
  tried: Promise<void>;
  /** Drops the connection at once and for good; calls still under way reject. Close the store first. */
  close: () => void;
};

export type RedisOptions = {
  /** See `redisAddressForms`. */
  url: string;
  log: Log;
  /** The store's; it decides which node of a Cluster serves. Default `payops`. */
  prefix?: string;
  /** So many replicas must have what a script of `commands` changed or saw; fewer reject the call. Default 0. */
  waitReplicas?: number;
  /** Called when another node serves than before: it may be set up in another way. */
  onOtherNode?: () => void;
};

const silenceMs = 3000;
const watchMs = 500;

/**
 * Connects in the background and stays connected: returns at once, also when Redis is away, and keeps
 * trying; it is back within 3 s of Redis's return, or of a failover's end. While it is away every call fails
 * at once instead of waiting in a queue whose calls would be carried out long after their callers have given up.
 * Each outage is logged once, and its end; the address's user and password never are. TLS is rediss.
 * Throws only for an address that can never work, without repeating it.
 */
export function connectRedis(options: RedisOptions): RedisConnection {
  const { url, log, prefix = 'payops', waitReplicas = 0, onOtherNode = () => undefined } = options;
  const address = parseRedisAddress(url);
  if (address === undefined) throw new Error(`The Redis address must look like ${redisAddressForms}.`);
  if (address.kind !== 'alone' && waitReplicas === 0) {
    log('warn', 'A failover of Redis can lose the last changes: no replica is waited for.', {
      fix: 'Set REDIS_WAIT_REPLICAS to 1.',
    });
  }
  const news = createRedisNews(log);
  const line =
    address.kind === 'alone'
      ? keepRedis(url, news)
      : followRedis({ address, key: `{${prefix}}` }, news, onOtherNode);
  // The socket's own timeout starts anew with every write, so under steady calls a connection whose other
  // end has vanished without a word would be kept for the many minutes of TCP's patience.
  const watchdog = setInterval(() => {
    const client = line.client();
    if (client.isReady && news.silentMs() > silenceMs) {
      line.renew(client, `No answer for ${silenceMs} ms`);
    }
  }, watchMs).unref();

  return {
    get client() {
      return line.client();
    },
    commands: createRedisCommands({
      client: line.client,
      onElsewhere: line.renew,
      onShort: line.doubt,
      waitReplicas,
      waitKey: `{${prefix}}:waited`,
    }),
    cacheAdapter: () => new KeyvRedis<unknown>(line.client()),
    tried: line.tried,
    close() {
      clearInterval(watchdog);
      line.close();
    },
  };
}
