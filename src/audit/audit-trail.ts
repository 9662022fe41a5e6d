import { setTimeout as sleep } from 'node:timers/promises';
import { createAuditLog, type AuditLog } from './audit-log.ts';
import { createAuditNotes, type AllAuditNotes } from './audit-notes.ts';
import { auditRetentionPrefix, createAuditRetention } from './audit-retention.ts';
import type { WorkOnceDeps } from '../records/work-once.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';

export type AuditTrail = Pick<AuditLog, 'append' | 'ofReference' | 'start' | 'stop'> & {
  /** What is written into it as the bot goes. */
  notes: AllAuditNotes;
  kinds: WorkOnceDeps['kinds'];
};

/** One trail for all merchant accounts, in the whole store: what was done, and for how long that is kept. */
export function createAuditTrail(
  { config, log, now }: { config: { auditKeepDays: number }; log: Log; now: () => number },
  { store, sealer }: { store: Store; sealer: Sealer },
): AuditTrail {
  const keepMs = config.auditKeepDays === 0 ? undefined : config.auditKeepDays * 86_400_000;
  const trail = createAuditLog({ store, sealer, log });
  const { append } = trail;
  const retention = createAuditRetention({ store, sealer, append, keepMs, now, log });
  return {
    append,
    notes: createAuditNotes({ audit: append, now, wait: sleep, log }),
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
