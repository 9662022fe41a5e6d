import type { CreateOptions, Entry, Store, WriteOptions } from '../../src/store/store.ts';
import { aroundStore, kindOf } from './around-store.ts';

/**
 * Where a process can be killed: before and after each await of something outside. A point's name is the awaited call and
 * its count, so that it stays the same when two parallel calls change places.
 */
export type KillPoints = {
  /** Points are counted from now on. */
  begin: () => void;
  before: (name: string) => void;
  after: (name: string) => void;
  pass: <T>(name: string, effect: () => Promise<T>) => Promise<T>;
};

/** Calls `reached` at every point with its name, from the first time that `first` is passed, or from `begin` on. */
export function createKillPoints(first: string, reached: (point: string) => void): KillPoints {
  const times = new Map<string, number>();
  let begun = false;
  function point(name: string): void {
    begun ||= name === first;
    if (!begun) return;
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    reached(`${name} #${time}`);
  }
  const before = (name: string): void => point(`before ${name}`);
  const after = (name: string): void => point(`after ${name}`);
  return {
    begin: () => (begun = true),
    before,
    after,
    async pass(name, effect) {
      before(name);
      const result = await effect();
      after(name);
      return result;
    },
  };
}

/**
 * The store with a point around each call. A `take` that finds no work is no point; the one that finds some is,
 * afterwards.
 */
export function pointedStore(store: Store, points: KillPoints): Store {
  return {
    ...aroundStore(store, (call, name) => points.pass(name, call)),
    list: (...asked) => store.list(...asked),
    async take(...asked) {
      const entries = await store.take(...asked);
      for (const { key } of entries) points.after(`take ${kindOf(key)}`);
      return entries;
    },
  };
}

/** `fetch` with a point before each request and one after its answer. */
export function pointedFetch(realFetch: typeof fetch, points: KillPoints): typeof fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    return points.pass(`${method} ${url.pathname}`, () => realFetch(input, init));
  };
}

/**
 * The store of a process whose clock runs `factor` times as fast, on a store with a real clock (Redis has its own):
 * divides every duration by the factor. The charge's timer of half a minute, a dead worker's lease and Slack's rate limit
 * pass faster accordingly.
 */
export function hastenedStore(store: Store, factor: number): Store {
  const hasten = (options: WriteOptions): WriteOptions =>
    Object.fromEntries(
      Object.entries(options).map(([name, one]) => [name, typeof one === 'number' ? one / factor : one]),
    );
  return {
    ...store,
    create: (key, value, options) => store.create(key, value, options && hastenBirth(options, factor)),
    write: (entry: Entry, value, options) => store.write(entry, value, options && hasten(options)),
    take: (leaseMs, ...more) => store.take(leaseMs / factor, ...more),
  };
}

function hastenBirth(options: CreateOptions, factor: number): CreateOptions {
  if ('delayMs' in options) return { ...options, delayMs: options.delayMs / factor };
  return options.ttlMs === undefined ? options : { ...options, ttlMs: options.ttlMs / factor };
}
