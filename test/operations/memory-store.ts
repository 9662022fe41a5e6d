import type { Entry, Store } from '../../src/store/store.ts';

type Kept = { entry: Entry; dueAtMs: number | undefined };

/** The port in thirty lines of memory, with a clock the test moves: for operations, which know only the port. */
export function memoryStore(clock: { nowMs: number }): Store & { keys(): string[] } {
  const kept = new Map<string, Kept>();
  const laneFreeAtMs = new Map<string, number>();
  return {
    keys: () => [...kept.keys()],
    create(key, value, options = {}) {
      if (kept.has(key)) return Promise.resolve(false);
      const isWork = 'delayMs' in options;
      const lane = isWork && options.lane !== undefined ? options.lane : key;
      const entry = { key, value, version: 1, lane, attempts: 0 };
      kept.set(key, { entry, dueAtMs: isWork ? clock.nowMs + options.delayMs : undefined });
      return Promise.resolve(true);
    },
    read: (key) => Promise.resolve(kept.get(key)?.entry),
    write(entry, value, options = {}) {
      const found = kept.get(entry.key);
      if (found?.entry.version !== entry.version) return Promise.resolve(undefined);
      const againMs = options.holdMs ?? options.delayMs;
      const dueAtMs = againMs === undefined ? undefined : clock.nowMs + againMs;
      const written = { ...found.entry, value, version: entry.version + 1 };
      kept.set(entry.key, { entry: written, dueAtMs });
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
      kept.set(entry.key, { entry, dueAtMs: clock.nowMs + leaseMs });
      laneFreeAtMs.set(entry.lane, clock.nowMs + leaseMs);
      return Promise.resolve([entry]);
    },
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
