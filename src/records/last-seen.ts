import { z } from 'zod';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { dayMs } from '../domain/span.ts';

/** The last occurrence of something: when (UTC ms), and the words for `/pay doctor`. Contains nothing secret. */
export type LastSeen = z.infer<typeof seen>;

const seen = z.object({ atMs: z.number(), why: z.string() });
const minuteMs = 60_000;
const keptMs = 7 * dayMs;

/**
 * Remembers the last occurrence under that key for a week. Stores at most one a minute, since strangers may cause them.
 * Never throws.
 */
export function createLastSeen(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  key: string,
  log: Log,
): (atMs: number, why: () => string) => void {
  let lastMs = -Infinity;
  return function remember(atMs, why) {
    // If the clock was put back, the minute begins again.
    lastMs = Math.min(lastMs, atMs);
    if (atMs - lastMs < minuteMs) return;
    lastMs = atMs;
    note(JSON.stringify({ atMs, why: why() })).catch((error: unknown) =>
      log('debug', `${key} is not on record`, {}, error),
    );
  };
  /** If another replica writes at the same moment, this write loses, and the other's stays. */
  async function note(value: string): Promise<void> {
    const entry = await store.read(key);
    const kept = { ttlMs: keptMs };
    await (entry ? store.write(entry, value, kept) : store.create(key, value, kept));
  }
}

/** Undefined: nothing was remembered in the last week. Throws StoreUnavailable. */
export async function readLastSeen(store: Pick<Store, 'read'>, key: string): Promise<LastSeen | undefined> {
  const entry = await store.read(key);
  return entry && seen.parse(JSON.parse(entry.value));
}
