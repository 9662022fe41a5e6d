import { setTimeout as sleep } from 'node:timers/promises';
import { createAuditLog, type AuditLog } from '../operations/audit-log.ts';
import { createAuditNotes, type AuditNotes } from '../operations/audit-notes.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';

/** What was done, on one chain for all merchant accounts and replicas, and the ways to write on it. */
export type AuditTrail = Pick<AuditLog, 'ofReference' | 'start'> & {
  /** Notes of one account, or of what belongs to none. */
  notesOf: (account: string | undefined) => AuditNotes;
  /** Nothing is written any more once it resolves. Never throws. */
  stop: () => Promise<void>;
};

export function openAuditTrail(
  { log, now }: Pick<Outside, 'log' | 'now'>,
  { store, sealer }: Pick<Kept, 'store' | 'sealer'>,
): AuditTrail {
  const chain = createAuditLog({ store, sealer, log, keepMs: undefined });
  const all: AuditNotes[] = [];
  return {
    ofReference: (reference) => chain.ofReference(reference),
    start: () => chain.start(),
    notesOf(account) {
      const notes = createAuditNotes({ audit: chain.append, account, now, wait: sleep, log });
      all.push(notes);
      return notes;
    },
    async stop() {
      await Promise.all(all.map((notes) => notes.drained()));
      await chain.stop();
    },
  };
}
