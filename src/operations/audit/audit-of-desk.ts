import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { HandOver, Resend } from '../../domain/charge-seen.ts';
import type { ChargeRecord } from '../charge/charge-record.ts';

/** What the audit says of a charge that went into another's hands. */
export function auditOfHandOver(reference: string, { at, from, to }: HandOver): AuditEntry {
  const id = `${reference}:taken_over:${at}`;
  return { id, atMs: at, who: to, what: 'step', reference, before: from, after: to, result: 'taken_over' };
}

/** Of the wish for another code; what became of that stands in the log and on the charge. */
export function auditOfResend(reference: string, { at, by }: Resend): AuditEntry {
  return {
    id: `${reference}:resend:${at}`,
    atMs: at,
    who: by,
    what: 'step',
    reference,
    result: 'code_asked_again',
  };
}

/** What people did with a charge beside its steps, as its record has it. */
export function auditOfDesk({
  intent: { reference },
  handOvers,
  resends,
}: Pick<ChargeRecord, 'intent' | 'handOvers' | 'resends'>): AuditEntry[] {
  return [
    ...handOvers.map((handOver) => auditOfHandOver(reference, handOver)),
    ...resends.map((resend) => auditOfResend(reference, resend)),
  ];
}
