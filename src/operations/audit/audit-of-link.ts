import type { AuditEntry } from '../../domain/audit-entry.ts';
import { formatMoney } from '../../domain/money.ts';
import type { LinkEvent, PaymentLink } from '../../domain/payment-link.ts';
import type { LinkRecord } from '../link/link-record.ts';

/** What the audit says of a link that a person asked for. */
export function auditOfNewLink({ reference, by, askedAtMs, terms, state }: PaymentLink): AuditEntry {
  return {
    id: `link:${reference}:${askedAtMs}`,
    atMs: askedAtMs,
    who: by,
    what: 'step',
    reference,
    after: `link_${state.kind}`,
    result: 'link_asked',
    reason: formatMoney(terms.money),
  };
}

/** Of one step of it: its turn makes the id, so that the same step is the same entry. */
export function auditOfLinkStep(
  event: LinkEvent,
  { before, after, atMs }: { before: LinkRecord; after: LinkRecord; atMs: number },
): AuditEntry {
  const { reference, askedAtMs } = after.link;
  const hasMoved = before.link.state.kind !== after.link.state.kind;
  const said = saidBy(event);
  return {
    id: `link:${reference}:${askedAtMs}:${after.turn}`,
    atMs,
    who: event.kind === 'placed' ? 'payops' : 'payments',
    what: event.kind === 'placed' ? 'step' : 'answer',
    reference,
    ...(hasMoved ? { before: `link_${before.link.state.kind}`, after: `link_${after.link.state.kind}` } : {}),
    ...said,
  };
}

function saidBy(event: LinkEvent): Pick<AuditEntry, 'result' | 'reason' | 'where'> {
  switch (event.kind) {
    case 'answered': {
      const { end } = event;
      return { result: `link_${end.kind}`, ...('why' in end ? { reason: end.why } : {}) };
    }
    case 'payment_success':
      return { result: 'event_payment_success' };
    case 'payment_failed':
      return { result: 'event_payment_failed', ...(event.why === undefined ? {} : { reason: event.why }) };
    case 'hinted':
      return { result: 'event_unsigned_reference' };
    case 'looked_up':
      return { result: `link_looked_up_${event.lookup.kind}` };
    case 'placed':
      return { result: 'link_placed', where: event.place };
  }
}
