import type { AlertCard, CardStep } from '../../domain/alert-card.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { referenceOfEventKey } from '../../domain/event-key.ts';

/** What the audit says of one step of an alert's card; `id` is the key of its event. */
export function auditOfCardStep(
  id: string,
  before: AlertCard['kind'],
  { card, step }: { card: AlertCard; step: CardStep },
): AuditEntry {
  return {
    id: `alert:${id}:${step.at}:${step.kind}`,
    atMs: step.at,
    who: 'by' in step ? step.by : 'payops',
    what: 'step',
    reference: referenceOfEventKey(id) ?? id,
    ...(before === card.kind ? {} : { before: `alert_${before}`, after: `alert_${card.kind}` }),
    result: `alert_${step.kind}`,
    ...detailOf(step),
  };
}

function detailOf(step: CardStep): Pick<AuditEntry, 'reason' | 'after'> {
  switch (step.kind) {
    case 'assigned':
      return { after: step.to };
    case 'snoozed':
      return { reason: `until ${new Date(step.until).toISOString()}` };
    case 'closed':
      return { reason: step.reason };
    case 'recovered':
    case 'other_payment':
      return { reason: `by the payment ${step.payment.reference}` };
    default:
      return {};
  }
}

/** The steps that a card still knows of, as it stands: for a story that the audit does not go back to. */
export function auditOfCard(id: string, card: AlertCard): AuditEntry[] {
  const taken = card.kind === 'acknowledged' ? card : card.kind === 'open' ? undefined : card.acknowledged;
  const steps: { before: AlertCard['kind']; card: AlertCard; step: CardStep }[] = [];
  if (taken) {
    const { by, at } = taken;
    steps.push({ before: 'open', card: taken, step: { kind: 'acknowledged', by, at } });
  }
  const before = taken ? 'acknowledged' : 'open';
  if (card.kind === 'closed') {
    const { by, reason, at } = card;
    steps.push({ before, card, step: { kind: 'closed', by, reason, at } });
  }
  if (card.kind === 'recovered') {
    const { payment, at } = card;
    steps.push({ before, card, step: { kind: 'recovered', payment, at } });
  }
  return steps.map((one) => auditOfCardStep(id, one.before, one));
}
