import type { AuditEntry } from './audit-entry.ts';

/** What is to stand in the audit: under an id of its own when none is given, and as of now when no time is. */
export type AuditNote = Omit<AuditEntry, 'id' | 'atMs'> & Partial<Pick<AuditEntry, 'id' | 'atMs'>>;

/** Has it written down in the background. Never throws, and nobody waits for it. */
export type NoteAudit = (note: AuditNote) => void;
