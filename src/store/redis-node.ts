import { createClient } from '@keyv/redis';
import type { ClusterAddress, RedisAddress, RedisNode, SentinelAddress } from './redis-address.ts';
import { withoutUndefined } from '../domain/json.ts';
import { withinDeadline } from './deadline.ts';

// How the node is found that serves the store's keys.

const answerMs = 1_500;

/** The epoch rises with every failover that Sentinels make: of two masters the one with the higher is the newer. */
export type ServingNode = RedisNode & { readonly epoch: number };

/** Where there is one address alone, which says it all. */
const theOne: ServingNode = { host: '', port: 0, epoch: 0 };

/** The node that serves now, as most of the Cluster's nodes or the newest word of the Sentinels has it. Rejects when none is known. */
export async function findNode(address: RedisAddress, key: string): Promise<ServingNode> {
  if (address.kind === 'alone') return theOne;
  return address.kind === 'cluster' ? await findSlotOwner(address, key) : await findMaster(address);
}

/** Rejects unless the node itself says that it serves: a master may have been replaced since it was named. */
export async function checkServes(client: RedisClient, address: RedisAddress, key: string): Promise<void> {
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
