import { setTimeout as sleep } from 'node:timers/promises';
import { createAuditLog, type Audit } from './audit-log.ts';
import { auditRetentionPrefix, createAuditRetention } from './audit-retention.ts';
import type { Kind } from '../records/worker.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';
import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '../records/shapes.ts';
import { createWorkUnderWay } from '../under-way.ts';

/** One trail for all merchant accounts, in the whole store: what was done, and for how long that is kept. */
export function createAuditTrail(
  { config, log, now }: { config: { auditKeepDays: number }; log: Log; now: () => number },
  { store, sealer }: { store: Store; sealer: Sealer },
) {
  const keepMs = config.auditKeepDays === 0 ? undefined : config.auditKeepDays * 86_400_000;
  const { append, ofReference, start, stop } = createAuditLog({ store, sealer, log });
  const retention = createAuditRetention({ store, sealer, append, keepMs, now, log });
  const notes = createAuditNotes({ audit: append, now, wait: sleep, log });
  const kinds: readonly Kind[] = [{ prefix: auditRetentionPrefix, work: (entry) => retention.work(entry) }];
  return {
    append,
    ofReference,
    /** What is written into it as the bot goes: of one account; undefined: of what belongs to none, or of the only one. */
    notesOf: notes.of,
    kinds,
    start() {
      start();
      retention.start();
    },
    /** Once nothing is on its way any more. */
    async stop() {
      retention.stop();
      await notes.drained();
      await stop();
    },
  };
}

export type AuditTrail = ReturnType<typeof createAuditTrail>;

/** What the bot writes into its audit as it goes, without anybody waiting for it. */
export type AuditNotes = {
  /** Under an id of its own when none is given, and as of now when no time is. Never throws. */
  note: (note: Omit<AuditEntry, 'id' | 'atMs'> & Partial<Pick<AuditEntry, 'id' | 'atMs'>>) => void;
  /** True once it is on the chain; false when its tries did not get it there, which the log says. Never throws. */
  write: (entry: AuditEntry) => Promise<boolean>;
};

/** A process that stops waits for these: together with the store's own deadlines they fit its grace period. */
const triesAfterMs = [0, 100, 400, 1_600];

/**
 * An answer to a person never waits for the audit, and never breaks with it: what is written here goes its own way,
 * and an entry that does not get there is told in the log by its id.
 */
export function createAuditNotes(options: {
  audit: Audit;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
  log: Log;
}) {
  const { audit, now, wait, log } = options;
  const underWay = createWorkUnderWay();

  async function tryAll(entry: AuditEntry): Promise<boolean> {
    let failure: unknown;
    for (const afterMs of triesAfterMs) {
      try {
        if (afterMs > 0) await wait(afterMs);
        await audit(entry);
        return true;
      } catch (error) {
        failure = error;
      }
    }
    const about = { key: entry.id, result: entry.what };
    log('error', 'an entry of the audit could not be written', about, failure);
    return false;
  }

  return {
    of: (account: string | undefined): AuditNotes => {
      function write(entry: AuditEntry): Promise<boolean> {
        // Two accounts may have an order of one reference: their entries are not one.
        const own = account === undefined ? entry : { ...entry, id: `${account}/${entry.id}`, account };
        return underWay.add(tryAll(own));
      }
      return { write, note: (note) => void write({ id: randomUUID(), atMs: now(), ...note }) };
    },
    drained: underWay.drained,
  };
}
