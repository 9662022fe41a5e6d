import type { ChargeIntent } from '../../src/features/charge/charge-intent.ts';

export type ModelEntry = { readonly intent: ChargeIntent; readonly version: number };

/**
 * The store's interface for the tape's one intent: create once, compare-and-swap, due work with a lease, by the true
 * clock. Freezes values: code that changes one in place throws.
 */
export type ModelStore = {
  create: (intent: ChargeIntent, delayMs: number | undefined) => boolean;
  read: () => ModelEntry | undefined;
  write: (entry: ModelEntry, intent: ChargeIntent, delayMs: number | undefined) => ModelEntry | undefined;
  take: () => ModelEntry | undefined;
  /** When `take` next returns something; undefined once all is finished. */
  nextDue: () => number | undefined;
};

const leaseMs = 60_000;

export function createModelStore(clock: { time: number }): ModelStore {
  let entry: ModelEntry | undefined;
  let dueAt: number | undefined;
  let leasedUntil = 0;

  function put(intent: ChargeIntent, delayMs: number | undefined): ModelEntry {
    entry = { intent: frozen(intent), version: (entry?.version ?? 0) + 1 };
    dueAt = delayMs === undefined ? undefined : clock.time + Math.max(0, delayMs);
    leasedUntil = 0;
    return entry;
  }

  return {
    create(intent, delayMs) {
      if (entry) return false;
      put(intent, delayMs);
      return true;
    },
    read: () => entry,
    write(from, intent, delayMs) {
      return entry?.version === from.version ? put(intent, delayMs) : undefined;
    },
    take() {
      if (!entry || dueAt === undefined || clock.time < Math.max(dueAt, leasedUntil)) return undefined;
      entry = { ...entry, version: entry.version + 1 };
      leasedUntil = clock.time + leaseMs;
      return entry;
    },
    nextDue: () => (dueAt === undefined ? undefined : Math.max(dueAt, leasedUntil)),
  };
}

function frozen(intent: ChargeIntent): ChargeIntent {
  for (const part of [intent.state, intent.sends, intent.heard, intent.told, intent.otp, intent.history]) {
    Object.freeze(part);
  }
  return Object.freeze(intent);
}
