import { setTimeout as sleep } from 'node:timers/promises';
import type { Audit } from '../domain/audit-entry.ts';
import { createAuditLog, type AuditLog } from '../audit/audit-log.ts';
import { createAuditNotes, type AuditNotes } from '../audit/audit-notes.ts';
import { auditRetentionPrefix, createAuditRetention } from '../audit/audit-retention.ts';
import type { WorkOnceDeps } from '../records/work-once.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';

export type AuditTrail = Pick<AuditLog, 'append' | 'ofReference' | 'start' | 'stop'> & {
  kinds: WorkOnceDeps['kinds'];
};

/** One trail for all merchant accounts, in the whole store: what was done, and for how long that is kept. */
export function createAuditTrail({ config, log, now }: Outside, { store, sealer }: Kept): AuditTrail {
  const keepMs = config.auditKeepDays === 0 ? undefined : config.auditKeepDays * 86_400_000;
  const trail = createAuditLog({ store, sealer, log });
  const { append } = trail;
  const retention = createAuditRetention({ store, sealer, append, keepMs, now, log });
  return {
    append,
    ofReference: (reference) => trail.ofReference(reference),
    kinds: [{ prefix: auditRetentionPrefix, work: (entry) => retention.work(entry) }],
    start() {
      trail.start();
      retention.start();
    },
    async stop() {
      retention.stop();
      await trail.stop();
    },
  };
}

/** What writes into the one trail of all merchant accounts, each under its own name. */
export type AuditPens = {
  /** Notes of one account, or of what belongs to none. */
  of: (account: string | undefined) => AuditNotes;
  /** Resolves when nothing is on its way to the trail any more. */
  drained: () => Promise<void>;
};

export function createAuditPens({ log, now }: Pick<Outside, 'log' | 'now'>, audit: Audit): AuditPens {
  const all: AuditNotes[] = [];
  return {
    of(account) {
      const notes = createAuditNotes({ audit, account, now, wait: sleep, log });
      all.push(notes);
      return notes;
    },
    drained: async () => void (await Promise.all(all.map((notes) => notes.drained()))),
  };
}
