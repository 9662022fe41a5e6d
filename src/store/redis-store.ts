import { StoreUnavailable } from '../domain/failure.ts';
import { createWorkUnderWay } from '../under-way.ts';
import { withinDeadline } from './deadline.ts';
import {
  blockMs,
  checkTake,
  readTiming,
  readIndex,
  readList,
  toListed,
  written,
  type Timing,
} from './store-options.ts';
import {
  backlogScript,
  createScript,
  keysScript,
  listScript,
  pingScript,
  readScript,
  replaceScript,
  takeScript,
  writeScript,
  type Script,
} from './redis-scripts.ts';
import { mostDue, type Entry, type Index, type Store, type WriteOptions } from './store.ts';

type ScriptOptions = { keys: string[]; arguments: string[] };

/** The calls that the store needs; node-redis's client, cluster and sentinel have them. */
export type ScriptRunner = {
  evalSha(sha1: string, options: ScriptOptions): Promise<unknown>;
  eval(script: string, options: ScriptOptions): Promise<unknown>;
};

/**
 * The store in Redis, for any number of replicas. Each method is one atomic script, on Redis's clock. Redis must not
 * evict (`noeviction`) and should write each change to disk before it answers (`appendfsync always`); see `checkRedis`.
 * `close()` doesn't close the client.
 */
export function openRedisStore(
  client: ScriptRunner,
  options: {
    /** The hash tag of every key, so that two bots can share a Redis. Default `payops`. */
    prefix?: string;
    /** A call that takes longer throws StoreUnavailable. Default 2000. */
    deadlineMs?: number;
  } = {},
): Store {
  const { prefix = 'payops', deadlineMs = 2000 } = options;
  if (!/^[\w.:-]+$/.test(prefix)) {
    throw new RangeError('The Redis key prefix may hold letters, digits and . : _ - only.');
  }
  const root = `{${prefix}}`;
  const underWay = createWorkUnderWay();
  let closed = false;

  async function run(script: Script, ...args: string[]): Promise<unknown> {
    if (closed) throw new StoreUnavailable('The store is closed.');
    const answer = evaluate(client, script, { keys: [root], arguments: args });
    try {
      return await underWay.add(withinDeadline(answer, deadlineMs));
    } catch (cause) {
      if (cause instanceof StoreUnavailable) throw cause;
      throw new StoreUnavailable('Redis did not carry out the call.', cause);
    }
  }

  /** Sends the calls of a turn of the event loop to the script together. */
  function callsOf(script: Script, most: number) {
    return together(most, async (calls) => (await run(script, ...calls.flat())) as unknown[]);
  }
  const create = callsOf(createScript, 64);
  const read = callsOf(readScript, 64);
  const list = callsOf(listScript, 8);

  return {
    async create(key, value, createOptions = {}) {
      const lane = 'lane' in createOptions ? (createOptions.lane ?? key) : key;
      const { delay, ttl } = timesOf(createOptions);
      return (await create([key, value, lane, delay, ttl, listsOf(createOptions.index)])) === 1;
    },
    async read(key) {
      const found = await read([key]);
      if (!Array.isArray(found)) return undefined;
      const [value, version, lane, attempts] = found;
      return toEntry({ key, value, version, lane: lane ?? key, attempts: attempts ?? 0 });
    },
    async write(entry, value, writeOptions = {}) {
      const args = [entry.key, String(entry.version), value, ...changeOf(writeOptions)];
      const version = Number(await run(writeScript, ...args));
      return version === 0 ? undefined : written(entry, value, version, writeOptions);
    },
    async take(leaseMs, max = 1, lanes = '') {
      const request = checkTake(leaseMs, max);
      const numbers = [request.leaseMs, request.max].map(String);
      const found = await run(takeScript, ...numbers, lanes);
      if (!Array.isArray(found)) return [];
      const [lane, taken] = found;
      return (taken as unknown[][]).map(([key, value, version, attempts]) =>
        toEntry({ key, value, version, lane, attempts }),
      );
    },
    async replace(entry, value, index) {
      const args = [entry.key, String(entry.version), value, listsOf(index)];
      return (await run(replaceScript, ...args)) === 1;
    },
    async list(name, listOptions) {
      const { start, limit, newestFirst } = readList(listOptions);
      const args = [name, String(start.place), start.key, String(limit), newestFirst ? '1' : ''];
      const found = (await list(args)) as unknown[][];
      const listed = found.map(([place, key, value, version, lane, attempts]) => ({
        ...toEntry({ key, value, version, lane: lane ?? key, attempts: attempts ?? 0 }),
        place: Number(place),
      }));
      return toListed(listed, listOptions.max);
    },
    async keysAfter(after) {
      const [next, names] = (await run(keysScript, after || '0')) as [string, string[]];
      const prefix = `${root}:record:`.length;
      return { keys: names.map((name) => name.slice(prefix)), next: next === '0' ? undefined : next };
    },
    async backlog() {
      const [oldest, free, leased, paused] = (await run(backlogScript, String(mostDue))) as unknown[];
      const due = { free: Number(free), leased: Number(leased), paused: Number(paused) };
      return { oldestDueMs: Number(oldest), due };
    },
    async ping() {
      await run(pingScript);
    },
    async close() {
      for (const { flush } of [create, read, list]) flush();
      closed = true;
      await underWay.drained();
    },
  };
}

type Call = { args: string[]; resolve: (answer: unknown) => void; reject: (error: unknown) => void };

/**
 * Sends all calls of one turn of the event loop together, in order, so that a burst of webhooks costs only a few
 * requests. They fail together. `most`: more calls in one request would block Redis for too long.
 */
function together(most: number, sendAll: (calls: string[][]) => Promise<unknown[]>) {
  let waiting: Call[] = [];

  async function send(calls: readonly Call[]): Promise<void> {
    try {
      const answers = await sendAll(calls.map(({ args }) => args));
      for (const [at, { resolve }] of calls.entries()) resolve(answers[at]);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }

  function flush(): void {
    const calls = waiting;
    waiting = [];
    for (let at = 0; at < calls.length; at += most) void send(calls.slice(at, at + most));
  }

  function call(args: string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ args, resolve, reject });
    });
  }
  return Object.assign(call, { flush });
}

/** Runs a script by its hash; sends its text if Redis doesn't know the script, as after a restart or failover. */
async function evaluate(client: ScriptRunner, script: Script, options: ScriptOptions): Promise<unknown> {
  try {
    return await client.evalSha(script.sha1, options);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return await client.eval(script.text, options);
  }
}

function timesOf(options: Timing) {
  const { delayMs = '', ttlMs = '', holdMs = '' } = readTiming(options);
  return { delay: String(delayMs), ttl: String(ttlMs), hold: String(holdMs) };
}

/** The lists, as scripts expect them; empty: unchanged. */
function listsOf(index: Index | undefined): string {
  return index === undefined ? '' : JSON.stringify(readIndex(index).flat().map(String));
}

/** Delay, ttl, pause, hold, lane and lists, as the script expects them. */
function changeOf(options: WriteOptions): string[] {
  const { delay, ttl, hold } = timesOf(options);
  const pauseMs = blockMs('pauseMs', options.pauseMs ?? 0);
  return [delay, ttl, pauseMs === 0 ? '' : String(pauseMs), hold, options.lane ?? '', listsOf(options.index)];
}

function toEntry(fields: Record<keyof Entry, unknown>): Entry {
  return {
    key: String(fields.key),
    value: String(fields.value),
    version: Number(fields.version),
    lane: String(fields.lane),
    attempts: Number(fields.attempts),
  };
}
