import type { Entry, Store } from '../../src/store/store.ts';

type Kept = { entry: Entry; dueAtMs: number | undefined; expiresAtMs?: number | undefined };

/** The port in thirty lines of memory, with a clock the test moves: for operations, which know only the port. */
export function memoryStore(clock: { nowMs: number }): Store & { keys(): string[] } {
  const kept = new Map<string, Kept>();
  const laneFreeAtMs = new Map<string, number>();
  function find(key: string): Kept | undefined {
    const found = kept.get(key);
    if (found && (found.expiresAtMs ?? Infinity) <= clock.nowMs) kept.delete(key);
    return kept.get(key);
  }
  return {
    keys: () => [...kept.keys()],
    create(key, value, options = {}) {
      if (find(key)) return Promise.resolve(false);
      const isWork = 'delayMs' in options;
      const lane = isWork && options.lane !== undefined ? options.lane : key;
      const entry = { key, value, version: 1, lane, attempts: 0 };
      const ttlMs = isWork ? undefined : options.ttlMs;
      const expiresAtMs = ttlMs === undefined ? undefined : clock.nowMs + ttlMs;
      kept.set(key, { entry, dueAtMs: isWork ? clock.nowMs + options.delayMs : undefined, expiresAtMs });
      return Promise.resolve(true);
    },
    read: (key) => Promise.resolve(find(key)?.entry),
    write(entry, value, options = {}) {
      const found = find(entry.key);
      if (found?.entry.version !== entry.version) return Promise.resolve(undefined);
      const workMs = options.delayMs === undefined ? undefined : clock.nowMs + options.delayMs;
      // What is held keeps its place in the lane.
      const dueAtMs = options.holdMs === undefined ? workMs : found.dueAtMs;
      const { lane = found.entry.lane } = options;
      const written = { ...found.entry, value, version: entry.version + 1, lane };
      const lives = dueAtMs === undefined && options.ttlMs !== undefined;
      const expiresAtMs = lives ? clock.nowMs + (options.ttlMs ?? 0) : undefined;
      kept.set(entry.key, { entry: written, dueAtMs, expiresAtMs });
      laneFreeAtMs.set(entry.lane, clock.nowMs + (options.holdMs ?? options.pauseMs ?? 0));
      return Promise.resolve(written);
    },
    take(leaseMs) {
      const due = [...kept.values()]
        .filter((one) => one.dueAtMs !== undefined && one.dueAtMs <= clock.nowMs)
        .filter((one) => (laneFreeAtMs.get(one.entry.lane) ?? 0) <= clock.nowMs)
        .toSorted((a, b) => (a.dueAtMs ?? 0) - (b.dueAtMs ?? 0))[0];
      if (!due) return Promise.resolve([]);
      const entry = { ...due.entry, version: due.entry.version + 1, attempts: due.entry.attempts + 1 };
      kept.set(entry.key, { entry, dueAtMs: due.dueAtMs });
      laneFreeAtMs.set(entry.lane, clock.nowMs + leaseMs);
      return Promise.resolve([entry]);
    },
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
