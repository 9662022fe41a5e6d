import { createChangeRecord, type RecordStore } from '../work/change-record.ts';

/**
 * When the trouble began that a message is refused by, so that all of its messages are one. It is over when none was
 * refused for `stillMs`, whatever became of them. Throws StoreUnavailable, as all of it.
 */
export function incidentSince(
  store: RecordStore,
  name: string,
  { sinceMs, stillMs }: { sinceMs: number; stillMs: number },
): Promise<number> {
  return createChangeRecord(store)(keyOf(name), (text) => {
    const value = text ?? String(sinceMs);
    return { kind: 'write', value, ttlMs: stillMs, result: Number(value) };
  });
}

/** Slack takes what it refused: the next refusal is another trouble. */
export async function endIncident(store: RecordStore, name: string): Promise<void> {
  const entry = await store.read(keyOf(name));
  if (entry) await store.write(entry, entry.value, { ttlMs: 0 });
}

function keyOf(name: string): string {
  return `refused-since:${name}`;
}
