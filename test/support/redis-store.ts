import { connectRedis, type RedisConnection, type RedisOptions } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import type { Store } from '../../src/store/store.ts';

export type LineLog = { level: string; text: string }[];

export type OpenedRedis = RedisConnection & { store: Store; lines: LineLog };

let prefixes = 0;

/** A store on a connection of its own, under a prefix of its own unless one is given; there already. */
export async function openRedis(options: Omit<RedisOptions, 'log'>): Promise<OpenedRedis> {
  const opened = await tryRedis(options);
  await untilRedis('connected', async () => opened.client.isReady);
  return opened;
}

/** The same after the first attempt to connect, good or bad. */
export async function tryRedis(options: Omit<RedisOptions, 'log'>): Promise<OpenedRedis> {
  prefixes += 1;
  const prefix = options.prefix ?? `test-${prefixes}`;
  const lines: LineLog = [];
  const connection = connectRedis({
    ...options,
    prefix,
    log: (level, message, fields) => void lines.push({ level, text: JSON.stringify([message, fields]) }),
  });
  await connection.tried;
  return {
    get client() {
      return connection.client;
    },
    commands: connection.commands,
    cacheAdapter: connection.cacheAdapter,
    tried: connection.tried,
    failure: connection.failure,
    close: () => connection.close(),
    store: openRedisStore(connection.commands, { prefix }),
    lines,
  };
}

/** One command to one server, past everything that is being tested. */
export async function askRedis(port: number, ...words: string[]): Promise<unknown> {
  const connection = connectRedis({ url: `redis://127.0.0.1:${port}`, log: () => undefined });
  try {
    await connection.tried;
    return await connection.client.sendCommand(words);
  } finally {
    connection.close();
  }
}

/** Asks again and again until the answer is right; a server that refuses for now is asked again too. */
export async function untilRedis(
  what: string,
  isSo: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo().catch(() => false))) {
    if (performance.now() - startedAt > timeoutMs) throw new Error(`Not in ${timeoutMs} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
