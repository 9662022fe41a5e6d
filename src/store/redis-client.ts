import KeyvRedis from '@keyv/redis';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingDelayMs } from '../deadline.ts';
import { errorCode, StoreUnavailable } from '../domain/failure.ts';
import { parseRedisAddress, redisAddressForms, type RedisAddress } from './redis-address.ts';
import type { Log } from '../log.ts';
import type { Inspectable } from './check-redis.ts';
import { withinDeadline } from './deadline.ts';
import {
  checkServes,
  connectOnce,
  findNode,
  openNodeClient,
  type RedisClient,
  type ServingNode,
} from './redis-node.ts';
import type { ScriptRunner } from './redis-store.ts';
import { explainStoreError } from './explain-error.ts';

export type RedisConnection = {
  /** The current connection. Read it each time, because it is replaced after an outage. */
  readonly client: RedisClient;
  /** Calls for the store and its check; always on the current connection. */
  readonly commands: ScriptRunner & Inspectable;
  /** An adapter for a cache; it stays on the connection it was made with. */
  cacheAdapter: () => KeyvRedis<unknown>;
  /** Resolves when the first attempt to connect has ended. Never rejects. */
  tried: Promise<void>;
  /** Redis's or the network's error if Redis doesn't answer; undefined while it answers. */
  failure: () => string | undefined;
  /** Closes the connection for good; calls under way reject. Close the store first. */
  close: () => void;
};

export type RedisOptions = {
  /** See `redisAddressForms`. */
  url: string;
  log: Log;
  /** The store's prefix, by which a node of the Cluster is found. Default `payops`. */
  prefix?: string;
  /** How many replicas must have everything that a script wrote or read, or the call rejects. Default 0. */
  waitReplicas?: number;
  /** Called when another node serves from now on: its settings may differ. */
  onOtherNode?: () => void;
};

const connectMs = 1_500;
const firstRetryMs = 50;
const longestRetryMs = 500;
/**
 * How long a node with an older epoch is refused: longer than all Sentinels take to notice a failover. After that an
 * older epoch means that the Sentinels were reinstalled, and count from the beginning.
 */
const staleEpochMs = 15_000;
/** The least time between two reconnections to a single address, which may lead to a replica permanently. */
const renewGapMs = 2_000;
const watchMs = 500;
const mostSilentBeats = 6;
/** How long WAIT may take: longer than a healthy replica needs, less than the store's own deadline. */
const replicasWithinMs = 500;
/** Errors that mean that another node serves. The second form is Redis 6's, for an error within a script. */
const notServing = /^(MOVED|READONLY|CLUSTERDOWN|MASTERDOWN)\b|: -READONLY\b/;

/**
 * Connects in the background and returns at once; reconnects within 3 s of Redis's return or a failover's end. While
 * Redis is away calls fail at once, instead of being carried out long after their callers gave up. Logs each outage and
 * its end once, without user and password. Throws only for an address that can never work.
 *
 * Doesn't use node-redis's own Cluster and Sentinel clients. They repeat calls, so a `create` that was carried out
 * could be answered "exists"; here each call is sent once, to one node. And they follow ASK redirections, which are
 * refused here: while a Cluster moves the store's slot, a part of its records is on another node.
 */
export function connectRedis(options: RedisOptions): RedisConnection {
  const { url, log, prefix = 'payops', waitReplicas = 0, onOtherNode = () => undefined } = options;
  const address = readAddress(url);
  if (address.kind !== 'alone' && waitReplicas === 0) {
    log('warn', 'A failover of Redis can lose the last changes: no replica is waited for.', {
      fix: 'Set REDIS_WAIT_REPLICAS to 1.',
    });
  }
  // The store's hash tag, which keeps all its keys on one node of a Cluster.
  const key = `{${prefix}}`;
  const outages = createOutageLog(log);
  const closing = new AbortController();
  const firstTry = Promise.withResolvers<void>();
  // A placeholder until a node is found. It never connects, so its calls fail at once.
  let current = openNodeClient(address, undefined, connectMs);
  let searching = false;
  let serving: ServingNode | undefined;
  let lostAt = 0;
  const gapMs = address.kind === 'alone' ? renewGapMs : 0;
  let renewedAt = -Infinity;
  /**
   * Set while too few replicas have the last change. Calls queue behind WAIT, so most only time out; `failure` gives
   * this reason.
   */
  let missingReplicas: string | undefined;

  async function connect(node: ServingNode): Promise<void> {
    // A Sentinel that hasn't noticed the failover yet names the old master, which may be reachable again for a moment.
    const isOld = serving !== undefined && node.epoch < serving.epoch;
    if (isOld && performance.now() - lostAt < staleEpochMs)
      throw new Error('The Sentinels name an old master.');
    const found = openNodeClient(address, node, connectMs);
    found.on('error', (error: unknown) => renew(found, reasonOf(error)));
    try {
      await withinDeadline(
        connectOnce(found).then(() => checkServes(found, address, key)),
        connectMs,
      );
      closing.signal.throwIfAborted();
    } catch (error) {
      if (found.isOpen) found.destroy();
      throw error;
    }
    found.on('ping-interval', outages.answered);
    current = found;
    const isOther = serving !== undefined && (serving.host !== node.host || serving.port !== node.port);
    serving = node;
    if (isOther) onOtherNode();
  }

  /** Looks for a serving node until it is found. */
  async function search(): Promise<void> {
    searching = true;
    for (let failed = 0; searching && !closing.signal.aborted; failed += 1) {
      try {
        await connect(await findNode(address, key));
        searching = !current.isReady;
        if (!searching) outages.answered();
      } catch (error) {
        if (!closing.signal.aborted) outages.failed(reasonOf(error));
      }
      firstTry.resolve();
      const delayMs = growingDelayMs(firstRetryMs, failed, longestRetryMs);
      if (searching) await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  /** Replaces the connection, unless that has already happened. */
  function renew(lost: RedisClient, failure: string): void {
    if (lost !== current || searching || closing.signal.aborted) return;
    outages.failed(failure);
    lostAt = performance.now();
    if (lost.isOpen) lost.destroy();
    void search();
  }

  async function ask<T>(call: (client: RedisClient) => Promise<T>): Promise<T> {
    const asked = current;
    try {
      return await call(asked);
    } catch (error) {
      if (error instanceof Error && notServing.test(error.message)) {
        outages.failed(error.message, 2 * gapMs);
        if (performance.now() - renewedAt >= gapMs) {
          renewedAt = performance.now();
          renew(asked, error.message);
        }
      }
      // Without a connection the client's own error doesn't give the reason.
      const failure = current.isReady ? undefined : outages.failure();
      if (failure === undefined) throw error;
      throw new StoreUnavailable('Redis did not carry out the call.', new Error(failure, { cause: error }));
    }
  }

  /**
   * Runs a script and waits until `waitReplicas` replicas have what it wrote or read. WAIT only covers writes of its own
   * connection, so it is sent on the script's. Before it goes a small write: without one, WAIT would not cover a script
   * that only read, and its answer ("exists") could rest on a write that a failover loses. (Redis 7 waits for all
   * writes, but doesn't promise to.)
   */
  async function askReplicated<T>(call: (client: RedisClient) => Promise<T>): Promise<T> {
    return await ask(async (asked) => {
      if (waitReplicas === 0) return await call(asked);
      const [answer, , have] = await Promise.all([
        call(asked),
        asked.set(`${key}:waited`, ''),
        asked.wait(waitReplicas, replicasWithinMs),
      ]);
      missingReplicas =
        have < waitReplicas ? `NOREPLICAS ${have} of ${waitReplicas} replicas have the change.` : undefined;
      if (missingReplicas !== undefined) throw new Error(missingReplicas);
      return answer;
    });
  }

  // The connection's only deadline: a socket's own restarts with every write, so under steady calls a dead connection
  // would last until TCP gives up, after many minutes. Counts beats, not time: while this process stands still nothing
  // beats, and what Redis has answered meanwhile is read before the next one.
  const watchdog = setInterval(() => {
    const silentBeats = outages.beat();
    if (current.isReady && silentBeats > mostSilentBeats)
      renew(current, `No answer for ${mostSilentBeats * watchMs} ms`);
  }, watchMs).unref();
  void search();

  return {
    get client() {
      return current;
    },
    commands: {
      evalSha: (sha1, given) => askReplicated((node) => node.evalSha(sha1, given)),
      eval: (script, given) => askReplicated((node) => node.eval(script, given)),
      configGet: (name) => ask((node) => node.configGet(name)),
      info: (section) => ask((node) => node.info(section)),
    },
    cacheAdapter: () => new KeyvRedis<unknown>(current),
    tried: firstTry.promise,
    failure: () => outages.failure() ?? missingReplicas,
    close() {
      clearInterval(watchdog);
      closing.abort();
      if (current.isOpen) current.destroy();
    },
  };
}

function readAddress(url: string): RedisAddress {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new Error(`The Redis address must look like ${redisAddressForms}.`);
  return address;
}

/** Redis's answers to a login that it refuses. */
const refusal = /^(WRONGPASS|NOAUTH|NOPERM)\b/;

/** Logs an outage and its end once each, and a refused login once per outage. */
function createOutageLog(log: Log) {
  let away: string | undefined;
  let isRefused = false;
  let silentBeats = 0;
  let outageUntil = 0;
  return {
    /** Call it when Redis has answered. */
    answered: (): void => {
      silentBeats = 0;
      if (performance.now() < outageUntil) return;
      if (away !== undefined) log('info', 'Redis answers again.');
      away = undefined;
      isRefused = false;
    },
    /** Call it when Redis has failed. `forMs`: an answer within this time doesn't end the outage. */
    failed(failure: string, forMs = 0): void {
      outageUntil = Math.max(outageUntil, performance.now() + forMs);
      const isRefusal = refusal.test(failure);
      if (away !== undefined && (isRefused || !isRefusal)) return;
      away = failure;
      isRefused = isRefusal;
      log('error', 'Redis cannot be used. Every store call fails until it is back; trying again.', {
        failure,
        fix:
          explainStoreError(failure)?.fix ??
          'Check that Redis runs and that the address, password and TLS setting are right.',
      });
    },
    /** Counts one beat of the watchdog, and returns how many there were since the last answer. */
    beat: () => (silentBeats += 1),
    failure: () => away,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return [errorCode(error), error.message].filter((part) => part !== undefined && part !== '').join(': ');
}
