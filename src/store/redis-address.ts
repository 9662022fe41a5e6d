export type RedisNode = { readonly host: string; readonly port: number };

/**
 * The address of the store's Redis: one URL, or some nodes of a Cluster, or the Sentinels of a Redis. Cluster nodes and
 * Sentinels are asked which node serves.
 */
export type RedisAddress = { kind: 'alone'; url: string } | ClusterAddress | SentinelAddress;

export type ClusterAddress = { kind: 'cluster' } & Nodes;

/** `master`: the Redis's name in the Sentinels' configuration. */
export type SentinelAddress = { kind: 'sentinel'; master: string } & Nodes;

type Nodes = {
  nodes: readonly [RedisNode, ...RedisNode[]];
  tls: boolean;
  username: string | undefined;
  password: string | undefined;
};

/** The forms of an address, as the end of the sentence "the address must look like …". */
export const redisAddressForms =
  'redis://host:6379, redis+cluster://host1:6379,host2:6379 or redis+sentinel://host1:26379,host2:26379/name, with rediss for TLS and user:password@ before the hosts';

const nodesForm = /^(rediss?)\+(cluster|sentinel):\/\/(?:([^@/?#\s]*)@)?([^@/?#\s]+?)(?:\/([^/?#\s]*))?$/;

/** Undefined for an address that can never work. Never throws: an error could contain the password. */
export function parseRedisAddress(text: string): RedisAddress | undefined {
  const match = nodesForm.exec(text);
  if (match === null) return parseAlone(text);
  const [, scheme, kind, login, hosts = '', path = ''] = match;
  const name = decode(path);
  const nodes = readNodes(hosts, kind === 'sentinel' ? 26_379 : 6_379);
  const credentials = readLogin(login);
  if (nodes === undefined || credentials === undefined || name === undefined) return undefined;
  const both = { nodes, tls: scheme === 'rediss', ...credentials };
  if (kind === 'sentinel') return name === '' ? undefined : { kind, master: name, ...both };
  // A Cluster has database 0 only.
  return name === '' || name === '0' ? { kind: 'cluster', ...both } : undefined;
}

function parseAlone(text: string): RedisAddress | undefined {
  const protocol = URL.canParse(text) ? new URL(text).protocol : undefined;
  return protocol === 'redis:' || protocol === 'rediss:' ? { kind: 'alone', url: text } : undefined;
}

function readNodes(text: string, usualPort: number): [RedisNode, ...RedisNode[]] | undefined {
  const nodes = text.split(',').map((host) => readNode(host, usualPort));
  const [first, ...rest] = nodes.filter((node) => node !== undefined);
  return first === undefined || rest.length + 1 < nodes.length ? undefined : [first, ...rest];
}

function readNode(text: string, usualPort: number): RedisNode | undefined {
  const url = `redis://${text}`;
  if (text === '' || !URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  if (hostname === '') return undefined;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? usualPort : Number(port) };
}

function readLogin(text = ''): Pick<Nodes, 'username' | 'password'> | undefined {
  const colon = text.indexOf(':');
  const username = decode(colon === -1 ? text : text.slice(0, colon));
  const password = decode(colon === -1 ? '' : text.slice(colon + 1));
  if (username === undefined || password === undefined) return undefined;
  return { username: username || undefined, password: password || undefined };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
