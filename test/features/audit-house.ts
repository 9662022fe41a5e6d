import type { AuditEntry } from '../../src/records/shapes.ts';
import { blockKey, type Chain } from '../../src/audit/audit-chain.ts';
import { createAuditLog, type AuditLog } from '../../src/audit/audit-log.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { createSealer } from '../../src/store/sealed.ts';
import type { Store } from '../../src/store/store.ts';

export const sealer = createSealer([{ id: 'k1', key: Buffer.alloc(32, 7) }]);
/** The store as seen by somebody who can write to it, but has no sealing key. */
export const strangersSealer = createSealer([{ id: 'k1', key: Buffer.alloc(32, 8) }]);

export const startMs = Date.UTC(2026, 10, 21);

export type RecordsOnly = Pick<Store, 'create' | 'read' | 'write' | 'list'>;

/** A replica's log that writes blocks without delay. It isn't started, so nothing happens by itself within a second. */
export function auditLog(store: RecordsOnly, by = sealer): AuditLog {
  return createAuditLog({ store, sealer: by, log: () => undefined, blockEveryMs: 0 });
}

export function entryOf(id: string, more: Partial<AuditEntry> = {}): AuditEntry {
  return { id, atMs: startMs, who: 'U0AGENT01', what: 'command', verb: 'charge', ...more };
}

/** Appends one block for each list of ids. */
export async function appendBlocks(log: AuditLog, blocks: readonly (readonly string[])[]): Promise<void> {
  for (const [index, ids] of blocks.entries()) {
    const atMs = startMs + index * 86_400_000;
    await Promise.all(ids.map((id) => log.append(entryOf(id, { atMs }))));
  }
}

/** The problems that verification finds, as `kind seq`. */
export async function found(chain: Chain): Promise<string[]> {
  return (await verifyAudit(chain)).problems.map(({ kind, seq }) => `${kind} ${seq}`);
}

export async function readRecord(store: RecordsOnly, key: string): Promise<string> {
  const entry = await store.read(key);
  if (!entry) throw new Error(`no record ${key}`);
  return entry.value;
}

/** Overwrites a record past the bot, as somebody with access to the store can. */
export async function overwrite(
  store: RecordsOnly,
  key: string,
  change: (value: string) => string,
): Promise<void> {
  const entry = await store.read(key);
  if (!entry || !(await store.write(entry, change(entry.value)))) throw new Error(`no record ${key}`);
}

export async function remove(store: RecordsOnly, key: string): Promise<void> {
  const entry = await store.read(key);
  if (entry) await store.write(entry, '', { ttlMs: 0 });
}

/** Changes a block's lines, but not its signature. */
export function overwriteLines(
  store: RecordsOnly,
  number: number,
  change: (lines: string[]) => string[],
): Promise<void> {
  return overwrite(store, blockKey(number), (value) => {
    const [signature = '', ...lines] = value.split('\n');
    return [signature, ...change(lines)].join('\n');
  });
}
