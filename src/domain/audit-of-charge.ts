import type { AuditEntry } from './audit-entry.ts';
import { step } from './charge.ts';
import type {
  ChargeEvent,
  ChargeIntent,
  Finding,
  Past,
  StoredChargeAnswer,
  StoredOtpAnswer,
} from './charge-state.ts';
import type { HandOver, Resend } from './charge-seen.ts';
import { formatMoney } from './money.ts';

/**
 * What the audit says of a charge, made of nothing but its history: each step with the state before and after it, who
 * did it, and what was answered, in words that are not cleaned yet (`cleanAuditEntry`). A look-up that finds
 * the same as the one before, or a timer that finds nothing to do, is no news and has no entry: a day in doubt is some
 * hundreds of them. An id is the same whenever and wherever it is made.
 *
 * Spec: not shown; this is the bot's own account of what it did.
 */
export function auditOfCharge(history: readonly Past[]): AuditEntry[] {
  const entries: AuditEntry[] = [];
  let before: ChargeIntent | undefined;
  for (const [index, past] of history.entries()) {
    const after: ChargeIntent | undefined = step(before, past.event, past.at)?.next ?? before;
    if (after && isNews(past, history[index - 1])) entries.push(entryOf(past, { before, after }));
    before = after;
  }
  return entries;
}

/** Counted steps: see `remember`. */
function isNews(past: Past, earlier: Past | undefined): boolean {
  if (past.times !== undefined) return false;
  return !(past.event.kind === 'looked_up' && (earlier?.times ?? 0) > 1);
}

type Around = { before: ChargeIntent | undefined; after: ChargeIntent };

function entryOf({ at, event }: Past, { before, after }: Around): AuditEntry {
  const { reference, state } = after;
  const said = saidBy(event, after);
  const hasMoved = before?.state.kind !== state.kind;
  return {
    id: `${reference}:${at}`,
    atMs: at,
    who: said.who,
    what: said.what,
    reference,
    ...(hasMoved && before ? { before: before.state.kind } : {}),
    ...(hasMoved ? { after: state.kind } : {}),
    result: said.result,
    ...(said.reason === undefined || said.reason === '' ? {} : { reason: said.reason }),
  };
}

type Said = { who: string; what: 'step' | 'answer'; result: string; reason?: string | undefined };

function saidBy(event: ChargeEvent, after: ChargeIntent): Said {
  switch (event.kind) {
    case 'submitted':
      return { what: 'step', who: event.by, result: 'begun', reason: formatMoney(event.money) };
    case 'charge_answered':
      return answer(`charge_${event.answer.kind}`, wordsOf(event.answer));
    case 'otp_answered':
      return answer(`code_${event.answer.kind}`, wordsOf(event.answer));
    case 'looked_up':
      return answer(`look_up_${event.finding.kind}`, foundWords(event.finding, after));
    case 'payment_success':
      return answer('event_payment_success');
    case 'payment_failed':
      return answer('event_payment_failed', event.why);
    case 'otp_submitted':
      return { what: 'step', who: event.by, result: 'code_entered' };
    case 'look_up_asked':
      return { what: 'step', who: event.by, result: 'look_up_asked' };
    case 'due':
      return { what: 'step', who: 'payops', result: 'due' };
    case 'told':
      return { what: 'step', who: 'payops', result: `told_${event.what}` };
  }
}

function answer(result: string, reason?: string): Said {
  return { what: 'answer', who: 'payments', result, reason };
}

/** Their words, or else the word of ours for what they refused. */
function wordsOf(answered: StoredChargeAnswer | StoredOtpAnswer): string | undefined {
  if ('why' in answered && answered.why !== undefined) return answered.why;
  return 'reason' in answered ? answered.reason : undefined;
}

function foundWords(finding: Finding, { state }: ChargeIntent): string | undefined {
  if (state.kind === 'review') return state.why;
  return 'status' in finding ? finding.status : undefined;
}

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
