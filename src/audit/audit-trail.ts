import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createAuditLog, hasTime, type Audit } from './audit-log.ts';
import { auditRetentionPrefix, createAuditRetention } from './audit-retention.ts';
import type { WorkKind } from '../records/worker.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';
import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '../records/shapes.ts';
import { createWorkUnderWay } from '../under-way.ts';
import { dayMs } from '../domain/span.ts';

/** The bot's audit: one log for all merchant accounts, with its retention. `store`: the whole store. */
export function createAuditTrail(
  { config, log, now }: { config: { auditKeepDays: number }; log: Log; now: () => number },
  { store, sealer }: { store: Store; sealer: Sealer },
) {
  const keepMs = config.auditKeepDays === 0 ? undefined : config.auditKeepDays * dayMs;
  const { append, ofReference, start, stop } = createAuditLog({ store, sealer, log });
  const retention = createAuditRetention({ store, sealer, append, keepMs, now, log });
  const notes = createAuditNotes({ audit: append, now, wait: sleep, log });
  const kinds: readonly WorkKind[] = [
    { prefix: auditRetentionPrefix, work: (entry) => retention.work(entry) },
  ];
  return {
    append,
    ofReference,
    /** Writes entries about one account; undefined: about no account, or the only one. */
    notesOf: notes.of,
    kinds,
    start() {
      start();
      retention.start();
    },
    /** Call it once no other work is under way. */
    async stop() {
      retention.stop();
      await notes.drained();
      await stop();
    },
  };
}

export type AuditTrail = ReturnType<typeof createAuditTrail>;

/** Writes audit entries in the background. */
export type AuditNotes = {
  /** Writes an entry, by default with a new id and the present time. Never throws. */
  note: (note: Omit<AuditEntry, 'id' | 'atMs'> & Partial<Pick<AuditEntry, 'id' | 'atMs'>>) => void;
  /** Resolves to true once the entry is on the chain, or false if all tries failed, which is logged. Never throws. */
  write: (entry: AuditEntry) => Promise<boolean>;
};

/** The pause before each try. With the store's deadlines they fit into the time that a process has to stop. */
const pausesMs = [0, 100, 400, 1_600];

/**
 * Entries are written in the background, so answers to people neither wait for the audit nor fail with it. An entry
 * that could not be written is logged by its id.
 */
export function createAuditNotes(options: {
  audit: Audit;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
  log: Log;
}) {
  const { audit, now, wait, log } = options;
  const underWay = createWorkUnderWay();

  /** The entries of this turn of the event loop: one append for all costs little more than for one. */
  let batch: { entries: AuditEntry[]; written: Promise<boolean> } | undefined;

  function add(entry: AuditEntry): Promise<boolean> {
    // Alone: the audit log refuses an entry without a time, and every entry that is appended with it.
    if (!hasTime(entry)) return underWay.add(tryAll([entry]));
    if (!batch) {
      const entries: AuditEntry[] = [];
      batch = { entries, written: underWay.add(writeSoon(entries)) };
    }
    batch.entries.push(entry);
    return batch.written;
  }

  async function writeSoon(entries: readonly AuditEntry[]): Promise<boolean> {
    await nextTurn();
    batch = undefined;
    return await tryAll(entries);
  }

  async function tryAll(entries: readonly AuditEntry[]): Promise<boolean> {
    let failure: unknown;
    for (const pauseMs of pausesMs) {
      try {
        if (pauseMs > 0) await wait(pauseMs);
        await audit(...entries);
        return true;
      } catch (error) {
        failure = error;
      }
    }
    for (const { id, what } of entries)
      log('error', 'an entry of the audit could not be written', { key: id, result: what }, failure);
    return false;
  }

  return {
    of: (account: string | undefined): AuditNotes => {
      function write(entry: AuditEntry): Promise<boolean> {
        // Two accounts may have the same order reference, so the account is part of the id.
        const own = account === undefined ? entry : { ...entry, id: `${account}/${entry.id}`, account };
        return add(own);
      }
      return { write, note: (note) => void write({ id: randomUUID(), atMs: now(), ...note }) };
    },
    drained: underWay.drained,
  };
}
