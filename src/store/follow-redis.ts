import { setTimeout as rest } from 'node:timers/promises';
import { growingDelayMs } from '../deadline.ts';
import { withinDeadline } from './deadline.ts';
import { checkServes, findRedisNode, type NodeSearch, type ServingNode } from './find-redis-node.ts';
import { connectOnce, openNodeClient, type RedisClient, type RedisLine } from './redis-line.ts';
import { reasonOf, type RedisNews } from './redis-news.ts';

const connectMs = 1_500;
const firstRetryMs = 50;
const longestRetryMs = 500;
/** Longer than Sentinels take to hear of a failover. Past it they have been set up anew, with their epochs. */
const newsMs = 15_000;

/**
 * One connection to the node that serves the store's keys, found anew whenever it is lost or says that another
 * one serves. Not node-redis's own Cluster and Sentinel clients: they send a call again by themselves, by
 * which a `create` that was carried out is answered "there already", and they follow ASK.
 */
export function followRedis(search: NodeSearch, news: RedisNews, onOtherNode: () => void): RedisLine {
  const over = new AbortController();
  const first = Promise.withResolvers<void>();
  // Stands in until a node is found: never connected, so its calls fail at once.
  let current = openNodeClient(search.address, search.address.nodes[0], connectMs);
  let searching = false;
  let served: ServingNode | undefined;
  let lostAt = 0;

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

  /** Whoever cannot be asked, or names an older node than the one in use, leaves things as they are. */
  async function lookForOther(doubted: RedisClient, failure: string): Promise<void> {
    const node = await findRedisNode(search).catch(() => undefined);
    if (node && isOther(node, served) && node.epoch >= (served?.epoch ?? 0)) renew(doubted, failure);
  }

  void follow();
  return {
    client: () => current,
    renew,
    doubt: (doubted, failure) => void lookForOther(doubted, failure),
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
