import KeyvRedis from '@keyv/redis';
import { parseRedisAddress, redisAddressForms } from '../domain/redis-address.ts';
import type { Log } from '../log.ts';
import { followRedis, createRedisNews, type RedisClient } from './follow-redis.ts';
import type { Inspectable } from './check-redis.ts';
import type { ScriptRunner } from './redis-store.ts';

export type { RedisClient } from './follow-redis.ts';

export type RedisConnection = {
  /** The connection as it stands now. Ask anew each time: an outage makes another. */
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
  const line = followRedis({ address, key: `{${prefix}}` }, news, onOtherNode);
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
      onElsewhere: line.leave,
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

/** What the store and its check ask of Redis, on whatever connection stands at the moment. */
export type RedisCommands = ScriptRunner & Inspectable;

type CommandOptions = {
  client: () => RedisClient;
  /** Called when the node says that another one serves. */
  onElsewhere: (client: RedisClient, failure: string) => void;
  /** How many replicas must have what a call changed or saw before it is answered. */
  waitReplicas: number;
  /** A key that may be written for it, on the node that serves. */
  waitKey: string;
};

/** The second as Redis 6 has it: an error within a script. */
const servesNot = /^(MOVED|READONLY|CLUSTERDOWN|MASTERDOWN)\b|: -READONLY\b/;
/** Longer than a healthy replica takes, short of the store's own deadline. */
const replicasWithinMs = 500;

/**
 * Every call goes once, to one node, and is never sent again: whoever asked must decide. What the node
 * answers with ASK is refused too: while a Cluster moves the store's slot, half of its records are elsewhere,
 * and a script that ran on either half would find a claimed key unclaimed.
 */
function createRedisCommands(options: CommandOptions): RedisCommands {
  const { client, onElsewhere, waitReplicas, waitKey } = options;

  async function ask<T>(call: (client: RedisClient) => Promise<T>): Promise<T> {
    const asked = client();
    try {
      return await call(asked);
    } catch (error) {
      if (error instanceof Error && servesNot.test(error.message)) {
        onElsewhere(asked, error.message);
      }
      throw error;
    }
  }

  /**
   * WAIT promises only the writes of its own connection. So it goes out right behind the script, on the same
   * one, and behind a write of our own: a script that changed nothing may have seen what another replica of
   * the bot wrote and no replica of Redis has yet, and "there already" must not be said of what can still be
   * lost. (Redis 7 waits for everybody's writes as it is; it does not say that it always will.)
   */
  async function kept<T>(asked: RedisClient, call: (client: RedisClient) => Promise<T>): Promise<T> {
    if (waitReplicas === 0) return call(asked);
    const [answer, , have] = await Promise.all([
      call(asked),
      asked.set(waitKey, ''),
      asked.wait(waitReplicas, replicasWithinMs),
    ]);
    if (have < waitReplicas)
      throw new Error(`NOREPLICAS ${have} of ${waitReplicas} replicas have the change.`);
    return answer;
  }

  return {
    evalSha: (sha1, options) => ask((asked) => kept(asked, (node) => node.evalSha(sha1, options))),
    eval: (script, options) => ask((asked) => kept(asked, (node) => node.eval(script, options))),
    configGet: (name) => ask((asked) => asked.configGet(name)),
    info: (section) => ask((asked) => asked.info(section)),
  };
}
