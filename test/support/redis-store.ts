import { connectRedis, type RedisConnection, type RedisOptions } from '../../src/store/redis-client.ts';
import { openRedisStore, type ScriptRunner } from '../../src/store/redis-store.ts';
import type { Store } from '../../src/store/store.ts';
import { untilRedis } from './redis-ask.ts';
import type { OpenStore } from '../store/contract.ts';

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
    tried: connection.tried,
    close: () => connection.close(),
    store: openRedisStore(connection.commands, { prefix }),
    lines,
  };
}

/** A Redis whose clock somebody sets, by whole seconds, as far as its scripts read it. */
export function withClock(redis: ScriptRunner): { client: ScriptRunner; shift: (ms: number) => void } {
  let secondsOff = 0;
  const time = "redis.call('TIME')";
  const set = (script: string) =>
    secondsOff === 0 ? script : script.replace(time, `{ ${time}[1] + (${secondsOff}), ${time}[2] }`);
  return {
    client: {
      async evalSha(sha1, options) {
        if (secondsOff === 0) return await redis.evalSha(sha1, options);
        throw new Error('NOSCRIPT');
      },
      eval: (script, options) => redis.eval(set(script), options),
    },
    shift: (ms) => void (secondsOff += Math.ceil(ms / 1_000)),
  };
}

/** For the store contract. */
export async function openForContract(url: string): Promise<OpenStore> {
  prefixes += 1;
  const prefix = `test-${prefixes}`;
  const { client, commands, close } = await openRedis({ url, prefix });
  const { client: shifted, shift } = withClock(commands);
  const store = openRedisStore(shifted, { prefix });
  async function nowMs(): Promise<number> {
    const [seconds, micros] = await client.sendCommand<string[]>(['TIME']);
    return Number(seconds) * 1000 + Number(micros) / 1000;
  }
  return {
    store,
    shift,
    async pass(ms) {
      // One more, because Redis forgets a key in the millisecond after its last one.
      const until = (await nowMs()) + ms + 1;
      while ((await nowMs()) < until) continue;
    },
    async close() {
      await store.close();
      close();
    },
  };
}
