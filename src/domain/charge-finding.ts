import { charge, askForOtp, conclude, enter, hear, lateLookUpAt, lookUp } from './charge-moves.ts';
import {
  chargeLimits,
  type ChargeEvent,
  type ChargeIntent,
  type Conclusion,
  type Finding,
  type Step,
} from './charge-state.ts';
import { confirm } from './confirmation.ts';
import { otpStanding, type PendingOtp } from './otp-rules.ts';
import type { Transaction } from './transaction.ts';

type LookedUp = Extract<ChargeEvent, { kind: 'looked_up' }>;

/**
 * What a look-up's answer does. Proof counts from any state and however late it comes; anything else counts
 * only as the answer to the look-up under way.
 *
 * Spec: Transactions ("A charge is successful only when all hold").
 */
export function lookedUp(intent: ChargeIntent, event: LookedUp, at: number): Step | undefined {
  const { state } = intent;
  if (state.kind === 'approved') return undefined;
  const { finding } = event;
  if (finding.kind === 'paid') return conclude(intent, at, 'approved');
  if (!('askedAt' in state) || state.askedAt !== event.askedAt) return undefined;
  if (finding.kind === 'mismatch') return conclude(intent, at, 'review', { why: finding.why });
  return state.kind === 'confirming'
    ? stillInDoubt(intent, finding.kind, at)
    : stillConcluded(intent, state, finding.kind, at);
}

/**
 * Judges what a look-up found. A status that is neither success nor known to be final proves nothing either way,
 * and neither does one of another reference.
 *
 * Spec: Transactions ("A charge is successful only when all hold"); Transaction status.
 */
export function findingOf(
  { reference, money }: Pick<ChargeIntent, 'reference' | 'money'>,
  transaction: Transaction | undefined,
): Finding {
  const amount = { minor: money.minor, currency: money.currency, source: 'charge' } as const;
  const confirmation = confirm({ reference, amount }, transaction);
  if (confirmation.kind === 'not_found') return { kind: 'not_found' };
  const {
    evidence,
    transaction: { status },
  } = confirmation;
  const shown = status === undefined ? {} : { status };
  if (confirmation.kind === 'confirmed') return { kind: 'paid', ...shown };
  if (confirmation.kind === 'not_paid') return { kind: 'final_not_paid', ...shown };
  if (evidence.status.holds) {
    const wrong = evidence.reference.holds ? evidence.amount : evidence.reference;
    return { kind: 'mismatch', why: wrong.statement };
  }
  return { kind: 'pending', ...shown };
}

type Unproven = Exclude<Finding['kind'], 'paid' | 'mismatch'>;

/** The order matters: who was told "paid" waits for proof; an OTP comes before a failure; only silence is "not sent". */
function stillInDoubt(intent: ChargeIntent, found: Unproven, at: number): Step {
  if (found === 'failed') return lookAgain(intent, at);
  const known = isThere(found) ? hear(intent, 'exists') : intent;
  if (known.heard.includes('paid')) return lookAgain(known, at);
  if (known.otp) return otpInDoubt(known, known.otp, at);
  if (known.heard.includes('failed')) return conclude(known, at, 'declined', bankSaid(known));
  return known.heard.includes('exists') ? lookAgain(known, at) : neverSeen(known, at);
}

/** Expired only once the service has had time to ask the bank itself. Spec: awaiting OTP, 15 minutes pass. */
function otpInDoubt(intent: ChargeIntent, otp: PendingOtp, at: number): Step {
  const failed = intent.heard.includes('failed');
  if (failed && at < otp.until) return conclude(intent, at, 'declined', bankSaid(intent));
  if (otpStanding(otp, at).kind === 'open') return askForOtp(intent, at);
  const over = otp.until + chargeLimits.otpGraceMs;
  return failed || at >= over ? conclude(intent, at, 'expired') : lookAgain(intent, at, over);
}

/** Nobody has ever said that the reference arrived. Spec: charge a saved card (retry rules). */
function neverSeen(intent: ChargeIntent, at: number): Step {
  const { sends, refusal } = intent;
  const soon = at < intent.submittedAt + chargeLimits.resendMs;
  if (refusal === undefined && sends.length < chargeLimits.sends && soon) return charge(intent, at);
  const quietAt = (sends.at(-1) ?? at) + chargeLimits.quietMs;
  if (at < quietAt) return lookAgain(intent, at, quietAt);
  return refusal === undefined
    ? conclude(intent, at, 'abandoned')
    : conclude(intent, at, 'rejected', refusal);
}

function isThere(found: Unproven): boolean {
  return found === 'pending' || found === 'final_not_paid';
}

function bankSaid({ bankWords }: ChargeIntent): { why?: string } {
  return bankWords === undefined ? {} : { why: bankWords };
}

/** Backs off in step with the time in doubt, 1 s to 5 min; after a day it is a person's case. */
function lookAgain(intent: ChargeIntent, at: number, noLaterThan = Infinity): Step {
  const { state } = intent;
  const inDoubtMs = state.kind === 'confirming' ? at - state.since : 0;
  if (inDoubtMs >= chargeLimits.doubtMs) {
    return conclude(intent, at, 'review', { why: 'No proof of the charge within 24 hours' });
  }
  const { shortestBackOffMs, longestBackOffMs } = chargeLimits;
  const backOffMs = Math.min(Math.max(inDoubtMs, shortestBackOffMs), longestBackOffMs);
  return enter(intent, state, Math.min(at + backOffMs, noLaterThan));
}

/** A look-up of a concluded intent that proves nothing leaves it as it is, unless it belies "never sent". */
function stillConcluded(intent: ChargeIntent, state: Conclusion, found: Unproven, at: number): Step {
  if (found === 'failed') return enter(intent, state, at + chargeLimits.longestBackOffMs);
  const unsent = state.kind === 'abandoned' || state.kind === 'rejected';
  if (isThere(found) && unsent) return lookUp(hear(intent, 'exists'), at);
  if (!intent.told.includes(state.kind)) return enter(intent, state, at + chargeLimits.answerMs);
  const lateAt = lateLookUpAt(intent, state);
  return enter(intent, state, lateAt !== undefined && at < lateAt ? lateAt : undefined);
}
