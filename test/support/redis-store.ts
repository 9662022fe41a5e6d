import { connectRedis, type RedisConnection, type RedisOptions } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import type { Store } from '../../src/store/store.ts';

export type LineLog = { level: string; text: string }[];

export type OpenedRedis = RedisConnection & { store: Store; lines: LineLog };

let prefixes = 0;

/** A connected store with its own connection and, by default, its own prefix. */
export async function openRedis(options: Omit<RedisOptions, 'log'>): Promise<OpenedRedis> {
  const opened = await tryRedis(options);
  await untilRedis('connected', async () => opened.client.isReady);
  return opened;
}

/** The same after the first attempt to connect, successful or not. */
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

/** Sends one command to one server, without the code under test. */
export async function askRedis(port: number, ...words: string[]): Promise<unknown> {
  const connection = connectRedis({ url: `redis://127.0.0.1:${port}`, log: () => undefined });
  try {
    await connection.tried;
    return await connection.client.sendCommand(words);
  } finally {
    connection.close();
  }
}

/** Repeats a command until the answer is right, also while the server refuses. */
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
