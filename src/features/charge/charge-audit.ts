import { formatMoney } from '../../domain/money.ts';
import type { AuditEntry } from '../../records/shapes.ts';
import type {
  ChargeEvent,
  ChargeIntent,
  PastStep,
  StoredChargeAnswer,
  StoredOtpAnswer,
} from './charge-intent.ts';
import { step } from './machine.ts';

/**
 * The audit entries of a charge, from its history alone: each step with the states before and after, its author and the
 * answer. (`cleanAuditEntry` masks e-mail addresses and card numbers later.) Look-ups that the history has merged
 * (`step-history.ts`) have no entry, nor has a timer with nothing to do: a day in doubt has hundreds. An entry's id
 * depends only on its step.
 */
export function auditOfCharge(history: readonly PastStep[]): AuditEntry[] {
  const entries: AuditEntry[] = [];
  let before: ChargeIntent | undefined;
  for (const past of history) {
    const after: ChargeIntent | undefined = step(before, past.event, past.at, past.times)?.next ?? before;
    if (after && isNews(past)) entries.push(entryOf(past, before, after));
    before = after;
  }
  return entries;
}

/**
 * Whether the step gets an entry: no merged look-up (`times` above 1), no timer step without effect (`times` set).
 */
function isNews({ event, times }: PastStep): boolean {
  return event.kind === 'looked_up' ? (times ?? 1) === 1 : times === undefined;
}

function entryOf({ at, event }: PastStep, before: ChargeIntent | undefined, after: ChargeIntent): AuditEntry {
  const { reference, state } = after;
  const [result, reason] = resultOf(event, after);
  const isOwn = event.kind === 'due' || event.kind === 'told' || result === notSent;
  const who = 'by' in event ? event.by : isOwn ? 'payops' : 'payments';
  const hasMoved = before?.state.kind !== state.kind;
  return {
    id: `${reference}:${at}`,
    atMs: at,
    who,
    what: who === 'payments' && event.kind !== 'look_up_asked' ? 'answer' : 'step',
    reference,
    ...(hasMoved && before ? { before: before.state.kind } : {}),
    ...(hasMoved ? { after: state.kind } : {}),
    result,
    ...(reason === undefined || reason === '' ? {} : { reason }),
  };
}

/** The bot's own decision, in place of the service's answer. */
const notSent = 'charge_not_sent';

/** The result of an event, and the reason in the bank's words or ours. */
function resultOf(event: ChargeEvent, { state }: ChargeIntent): [result: string, reason?: string] {
  switch (event.kind) {
    case 'submitted':
      return ['begun', formatMoney(event.money)];
    case 'charge_answered':
      if (event.answer.kind === 'rejected' && event.answer.reason === 'alert_ended') return [notSent];
      return [`charge_${event.answer.kind}`, ...wordsOf(event.answer)];
    case 'otp_answered':
      return [`code_${event.answer.kind}`, ...wordsOf(event.answer)];
    case 'looked_up': {
      const { finding } = event;
      const status = 'status' in finding && finding.status !== undefined ? [finding.status] : [];
      const [reason] = state.kind === 'review' ? [state.why ?? ''] : status;
      return [`look_up_${finding.kind}`, reason ?? ''];
    }
    case 'payment_success':
    case 'payment_given_back':
      return [`event_${event.kind}`];
    case 'payment_failed':
      return ['event_payment_failed', event.why ?? ''];
    case 'otp_submitted':
      return ['code_entered'];
    case 'look_up_asked':
    case 'due':
      return [event.kind];
    case 'told':
      return [`told_${event.what}`];
  }
}

function wordsOf(answered: StoredChargeAnswer | StoredOtpAnswer): [string] {
  if ('why' in answered && answered.why !== undefined) return [answered.why];
  return ['reason' in answered ? answered.reason : ''];
}
