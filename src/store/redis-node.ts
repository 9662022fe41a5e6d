import { createClient } from '@keyv/redis';
import type { ClusterAddress, RedisAddress, RedisNode, SentinelAddress } from './redis-address.ts';
import { withoutUndefined } from '../domain/json.ts';
import { withinDeadline } from './deadline.ts';

// Finds the node that serves the store's keys.

const answerMs = 1_500;

/** `epoch` rises with every failover by Sentinels, so of two masters the one with the higher epoch is the newer. */
export type ServingNode = RedisNode & { readonly epoch: number };

/** Stands for the one node of a single address, which needs no search. */
const onlyNode: ServingNode = { host: '', port: 0, epoch: 0 };

/**
 * The node that serves now, according to most of the Cluster's nodes or to the Sentinels' newest epoch. Rejects if none
 * is known.
 */
export async function findNode(address: RedisAddress, key: string): Promise<ServingNode> {
  if (address.kind === 'alone') return onlyNode;
  return address.kind === 'cluster' ? await findSlotOwner(address, key) : await findMaster(address);
}

/**
 * Rejects unless the node itself says that it serves; its role may have changed since. A single address needs only answer:
 * a Redis that wants a password lets a connection without one open, and refuses every call.
 */
export async function checkServes(client: RedisClient, address: RedisAddress, key: string): Promise<void> {
  if (address.kind === 'alone') return void (await client.ping());
  if (address.kind === 'cluster') return await checkOwns(client, key);
  const role = await client.sendCommand<unknown[]>(['ROLE']);
  if (role[0] !== 'master') throw new Error('The node that the Sentinels name is not a master.');
}

async function findSlotOwner(address: ClusterAddress, key: string): Promise<ServingNode> {
  const answers = await Promise.all(
    address.nodes.map((node) =>
      askNode(address, node, async (client) => {
        try {
          await checkOwns(client, key);
          return node;
        } catch (error) {
          const owner = readMoved(error, node);
          if (owner === undefined) throw error;
          return owner;
        }
      }),
    ),
  );
  const votes = Map.groupBy(withoutErrors(answers), ({ host, port }) => `${host} ${port}`);
  const [most] = [...votes.values()].toSorted((one, other) => other.length - one.length);
  return { ...firstOf(most, answers), epoch: 0 };
}

/** Resolves on the node that owns the key; rejects with MOVED on any other. */
async function checkOwns(client: RedisClient, key: string): Promise<void> {
  try {
    await client.exists(key);
  } catch (error) {
    // ASK and TRYAGAIN come from a node whose slot is being moved away; it still owns the slot. (The caller refuses
    // calls meanwhile.)
    if (!(error instanceof Error && /^(ASK|TRYAGAIN)\b/.test(error.message))) throw error;
  }
}

function readMoved(error: unknown, asked: RedisNode): RedisNode | undefined {
  const match = error instanceof Error ? /^MOVED \d+ (.*):(\d+)$/.exec(error.message) : null;
  // `?`: the owner announces no host name. It says so itself, if REDIS_URL names it.
  if (match === null || match[1] === '?') return undefined;
  // Without a host it means the host that was asked.
  return { host: match[1] || asked.host, port: Number(match[2]) };
}

/** The master with the Sentinels' newest epoch. Rejects if none is known. */
async function findMaster(address: SentinelAddress): Promise<ServingNode> {
  const { username, password } = address;
  const answers = await Promise.all(
    address.nodes.map((node) =>
      // Ask first without the login of the Redis: Sentinels often have none, and then refuse a login.
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
  return firstOf(
    withoutErrors(answers).toSorted((one, other) => other.epoch - one.epoch),
    answers,
  );
}

/** Reads an answer that lists names and values in turn. */
function readMaster(words: readonly string[]): ServingNode {
  const after = (name: string) => words[words.findIndex((word, n) => n % 2 === 0 && word === name) + 1] ?? '';
  return { host: after('ip'), port: Number(after('port')), epoch: Number(after('config-epoch')) };
}

/** Asks one question over a new connection. Takes at most 1.5 s. */
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

function withoutErrors<T>(answers: readonly (T | Error)[]): T[] {
  return answers.filter((answer): answer is T => !(answer instanceof Error));
}

/** Throws the first error among the answers if there is no node. */
function firstOf<T>(nodes: readonly T[] = [], answers: readonly unknown[]): T {
  const [node] = nodes;
  if (node !== undefined) return node;
  throw answers.find((answer) => answer instanceof Error) ?? new Error('No node answered.');
}

const pingIntervalMs = 1000;

/** The client of @keyv/redis, so that store and caches share one connection. */
export type RedisClient = ReturnType<typeof createClient>;

let template: RedisClient | undefined;

/**
 * A client of one node, not connected yet. Never reconnects by itself, because another node may serve by then.
 * Duplicates a template instead of calling `createClient`, which makes a class with several hundred commands each time,
 * in 10 ms.
 */
export function openNodeClient(
  address: RedisAddress,
  node: RedisNode | undefined,
  connectTimeout: number,
): RedisClient {
  template ??= createClient({});
  const socket = { connectTimeout, reconnectStrategy: false } as const;
  const usual = { disableOfflineQueue: true, pingInterval: pingIntervalMs };
  if (address.kind === 'alone') return template.duplicate({ ...usual, url: address.url, socket });
  const { host, port } = node ?? address.nodes[0];
  const at = { ...socket, host, port };
  const { tls, username, password } = address;
  return template.duplicate({
    ...usual,
    socket: tls ? { ...at, tls } : at,
    ...withoutUndefined({ username, password }),
  });
}

/**
 * Connects, and rejects as soon as the connection breaks. node-redis itself keeps waiting if it breaks during the first
 * commands.
 */
export async function connectOnce(client: RedisClient): Promise<void> {
  const broken = Promise.withResolvers<never>();
  client.once('error', broken.reject);
  await Promise.race([client.connect(), broken.promise]);
}
