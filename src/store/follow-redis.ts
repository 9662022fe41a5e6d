import { setTimeout as rest } from 'node:timers/promises';
import { growingDelayMs } from '../deadline.ts';
import { withinDeadline } from './deadline.ts';
import type { ClusterAddress, RedisAddress, RedisNode, SentinelAddress } from '../domain/redis-address.ts';
import { createClient } from '@keyv/redis';
import { errorCode } from '../domain/failure.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { Log } from '../log.ts';

const connectMs = 1_500;
const firstRetryMs = 50;
const longestRetryMs = 500;
/** Longer than Sentinels take to hear of a failover. Past it they have been set up anew, with their epochs. */
const newsMs = 15_000;
/** Where one address leads to a replica for good, a new connection with every call would be an attack on it. */
const renewGapMs = 2_000;

/** The epoch rises with every failover that Sentinels make: of two masters the one with the higher is the newer. */
type ServingNode = RedisNode & { readonly epoch: number };

const answerMs = 1_500;
/** Where there is one address alone, which says it all. */
const theOne: ServingNode = { host: '', port: 0, epoch: 0 };

/** How to find the node that serves the store's keys. */
type NodeSearch = {
  address: RedisAddress;
  /** Any key under the store's hash tag: with it a Cluster keeps them all on one node. */
  key: string;
};

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
 * One connection to the node that serves, found anew whenever it is lost or says that another one serves. Not
 * node-redis's own Cluster and Sentinel clients: they send a call again by themselves, by which a `create` that was
 * carried out is answered "there already", and they follow ASK.
 */
export function followRedis(search: NodeSearch, news: RedisNews, onOtherNode: () => void): RedisLine {
  const { address } = search;
  const over = new AbortController();
  const first = Promise.withResolvers<void>();
  // Stands in until a node is found: never connected, so its calls fail at once.
  let current = openNodeClient(address, undefined, connectMs);
  let searching = false;
  let served: ServingNode | undefined;
  let lostAt = 0;
  const gapMs = address.kind === 'alone' ? renewGapMs : 0;
  let leftAt = -Infinity;

  async function connect(): Promise<void> {
    const node = await findNode(search);
    // A Sentinel that has not heard of the failover yet still names a master that may be back, and doomed.
    const isOld = served !== undefined && node.epoch < served.epoch;
    if (isOld && performance.now() - lostAt < newsMs) throw new Error('The Sentinels name an old master.');
    const found = openNodeClient(address, node, connectMs);
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

/** The node that serves now, as most of the Cluster's nodes or the newest word of the Sentinels has it. Rejects when none is known. */
async function findNode({ address, key }: NodeSearch): Promise<ServingNode> {
  if (address.kind === 'alone') return theOne;
  return address.kind === 'cluster' ? await findSlotOwner(address, key) : await findMaster(address);
}

/** Rejects unless the node itself says that it serves: a master may have been replaced since it was named. */
async function checkServes(client: RedisClient, { address, key }: NodeSearch): Promise<void> {
  if (address.kind === 'alone') return;
  if (address.kind === 'cluster') return await ownedHere(client, key);
  const role = await client.sendCommand<unknown[]>(['ROLE']);
  if (role[0] !== 'master') throw new Error('The node that the Sentinels name is not a master.');
}

async function findSlotOwner(address: ClusterAddress, key: string): Promise<ServingNode> {
  const answers = await Promise.all(
    address.nodes.map((node) =>
      askNode(address, node, async (client) => {
        try {
          await ownedHere(client, key);
          return node;
        } catch (error) {
          const owner = readMoved(error, node);
          if (owner === undefined) throw error;
          return owner;
        }
      }),
    ),
  );
  const votes = Map.groupBy(told(answers), ({ host, port }) => `${host} ${port}`);
  const [most] = [...votes.values()].toSorted((one, other) => other.length - one.length);
  return { ...first(most, answers), epoch: 0 };
}

/** Resolves on the node that owns the key; rejects with MOVED on every other. */
async function ownedHere(client: RedisClient, key: string): Promise<void> {
  try {
    await client.exists(key);
  } catch (error) {
    // It still owns the slot while it gives it away; that nothing may be asked of it meanwhile is the caller's.
    if (!(error instanceof Error && /^(ASK|TRYAGAIN)\b/.test(error.message))) throw error;
  }
}

function readMoved(error: unknown, asked: RedisNode): RedisNode | undefined {
  const match = error instanceof Error ? /^MOVED \d+ (.*):(\d+)$/.exec(error.message) : null;
  // Without a host it is the asked node's own, as Redis has it for nodes that do not know their address.
  return match === null ? undefined : { host: match[1] || asked.host, port: Number(match[2]) };
}

/** The one of the newest word of the Sentinels. Rejects when none is known. */
async function findMaster(address: SentinelAddress): Promise<ServingNode> {
  const { username, password } = address;
  const answers = await Promise.all(
    address.nodes.map((node) =>
      // Sentinels often have no password although their Redis has one, and refuse one then.
      askNode({ ...address, username: undefined, password: undefined }, node, async (sentinel) => {
        const query = () => sentinel.sendCommand<string[]>(['SENTINEL', 'MASTER', address.master]);
        return readMaster(
          await query().catch(async (error: unknown) => {
            if (password === undefined || !(error instanceof Error && /^NOAUTH\b/.test(error.message))) {
              throw error;
            }
            await sentinel.sendCommand(['AUTH', ...(username === undefined ? [] : [username]), password]);
            return query();
          }),
        );
      }),
    ),
  );
  return first(
    told(answers).toSorted((one, other) => other.epoch - one.epoch),
    answers,
  );
}

/** The answer is a list of names and values. */
function readMaster(words: readonly string[]): ServingNode {
  const after = (name: string) => words[words.findIndex((word, n) => n % 2 === 0 && word === name) + 1] ?? '';
  return { host: after('ip'), port: Number(after('port')), epoch: Number(after('config-epoch')) };
}

/** One question over a connection of its own, which is gone afterwards; never longer than a second and a half. */
async function askNode<T>(
  address: ClusterAddress | SentinelAddress,
  node: RedisNode,
  question: (client: RedisClient) => Promise<T>,
): Promise<T | Error> {
  const client = openNodeClient(address, node, answerMs);
  client.on('error', () => undefined);
  try {
    return await withinDeadline(
      connectOnce(client).then(() => question(client)),
      answerMs,
    );
  } catch (error) {
    return error instanceof Error ? error : new Error('unknown');
  } finally {
    if (client.isOpen) client.destroy();
  }
}

function told<T>(answers: readonly (T | Error)[]): T[] {
  return answers.filter((answer): answer is T => !(answer instanceof Error));
}

function first<T>(nodes: readonly T[] = [], answers: readonly unknown[]): T {
  const [node] = nodes;
  if (node !== undefined) return node;
  throw answers.find((answer) => answer instanceof Error) ?? new Error('No node answered.');
}

const pingIntervalMs = 1000;
const socketSilenceMs = 3000;

/** The node-redis client that @keyv/redis carries: one connection for the store and the caches. */
export type RedisClient = ReturnType<typeof openNodeClient>;

/** A client of one node, not connected yet. Once lost it stays lost: another node may serve by then. */
function openNodeClient(address: RedisAddress, node: RedisNode | undefined, connectTimeout: number) {
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
async function connectOnce(client: RedisClient): Promise<void> {
  const broken = Promise.withResolvers<never>();
  client.once('error', broken.reject);
  await Promise.race([client.connect(), broken.promise]);
}

/** What Redis itself answers a caller whom it does not let in. */
const refusal = /^(WRONGPASS|NOAUTH|NOPERM)\b/;

/** Tells an outage once, and its end once; and once in it that Redis refuses the bot, whatever stood in the way before. */
type RedisNews = {
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

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return [errorCode(error), error.message].filter((part) => part !== undefined && part !== '').join(': ');
}
