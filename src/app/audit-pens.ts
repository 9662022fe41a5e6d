import { setTimeout as sleep } from 'node:timers/promises';
import type { Audit } from '../domain/audit-entry.ts';
import { createAuditNotes, type AuditNotes } from '../operations/audit/audit-notes.ts';
import type { Outside } from './outside.ts';

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
