import { setTimeout as rest } from 'node:timers/promises';
import { growingDelayMs } from '../deadline.ts';
import { withinDeadline } from './deadline.ts';
import { checkServes, findRedisNode, type NodeSearch, type ServingNode } from './find-redis-node.ts';
import { connectOnce, openNodeClient, reasonOf, type RedisClient, type RedisNews } from './redis-node.ts';

const connectMs = 1_500;
const firstRetryMs = 50;
const longestRetryMs = 500;
/** Longer than Sentinels take to hear of a failover. Past it they have been set up anew, with their epochs. */
const newsMs = 15_000;
/** Where one address leads to a replica for good, a new connection with every call would be an attack on it. */
const renewGapMs = 2_000;

/** One connection, however it is found. */
export type RedisLine = {
  client: () => RedisClient;
  /** Drops that connection, unless it is dropped already, and makes another. */
  renew: (lost: RedisClient, failure: string) => void;
  /** The same, once in a while: that node says that another one serves. */
  leave: (lost: RedisClient, failure: string) => void;
  /** Resolves, and never rejects, when the first attempt to connect has come to its end. */
  tried: Promise<void>;
  close: () => void;
};

/**
 * One connection to the node that serves the store's keys, found anew whenever it is lost or says that another
 * one serves. Not node-redis's own Cluster and Sentinel clients: they send a call again by themselves, by
 * which a `create` that was carried out is answered "there already", and they follow ASK.
 */
export function followRedis(search: NodeSearch, news: RedisNews, onOtherNode: () => void): RedisLine {
  const over = new AbortController();
  const first = Promise.withResolvers<void>();
  // Stands in until a node is found: never connected, so its calls fail at once.
  let current = openNodeClient(search.address, undefined, connectMs);
  let searching = false;
  let served: ServingNode | undefined;
  let lostAt = 0;
  const gapMs = search.address.kind === 'alone' ? renewGapMs : 0;
  let leftAt = -Infinity;

  async function connect(): Promise<void> {
    const node = await findRedisNode(search);
    // A Sentinel that has not heard of the failover yet still names a master that may be back, and doomed.
    const isOld = served !== undefined && node.epoch < served.epoch;
    if (isOld && performance.now() - lostAt < newsMs) throw new Error('The Sentinels name an old master.');
    const found = openNodeClient(search.address, node, connectMs);
    found.on('error', (error: unknown) => renew(found, reasonOf(error)));
    try {
      await withinDeadline(
        connectOnce(found).then(() => checkServes(found, search)),
        connectMs,
      );
      over.signal.throwIfAborted();
    } catch (error) {
      if (found.isOpen) found.destroy();
      throw error;
    }
    found.on('ping-interval', news.hear);
    current = found;
    const other = isOther(node, served);
    served = node;
    if (other) onOtherNode();
  }

  async function follow(): Promise<void> {
    searching = true;
    for (let failed = 0; searching && !over.signal.aborted; failed += 1) {
      try {
        await connect();
        searching = !current.isReady;
        if (!searching) news.hear();
      } catch (error) {
        if (!over.signal.aborted) news.lose(reasonOf(error));
      }
      first.resolve();
      if (searching) await pause(failed);
    }
  }

  async function pause(failed: number): Promise<void> {
    const delayMs = growingDelayMs(firstRetryMs, failed, longestRetryMs);
    await rest(delayMs, undefined, { signal: over.signal }).catch(() => undefined);
  }

  function renew(lost: RedisClient, failure: string): void {
    if (lost !== current || searching || over.signal.aborted) return;
    news.lose(failure);
    lostAt = performance.now();
    if (lost.isOpen) lost.destroy();
    void follow();
  }

  function leave(lost: RedisClient, failure: string): void {
    news.lose(failure, 2 * gapMs);
    if (performance.now() - leftAt < gapMs) return;
    leftAt = performance.now();
    renew(lost, failure);
  }

  void follow();
  return {
    client: () => current,
    renew,
    leave,
    tried: first.promise,
    close() {
      over.abort();
      if (current.isOpen) current.destroy();
    },
  };
}

function isOther(node: ServingNode, served: ServingNode | undefined): boolean {
  return served !== undefined && (served.host !== node.host || served.port !== node.port);
}
