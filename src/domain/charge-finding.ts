import {
  charge,
  askForOtp,
  codeEndsAt,
  conclude,
  enter,
  hear,
  lateLookUpAt,
  lookUp,
} from './charge-moves.ts';
import {
  chargeLimits,
  type ChargeEvent,
  type ChargeIntent,
  type Conclusion,
  type Finding,
  type Step,
} from './charge-state.ts';
import { confirm } from './confirmation.ts';
import { isRefused, otpStanding } from './otp-rules.ts';
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
  switch (state.kind) {
    case 'confirming':
      return stillInDoubt(intent, finding, at);
    case 'otp':
      return finding.kind === 'final_not_paid' ? notPaid(intent, at) : undefined;
    default:
      return stillConcluded(intent, state, finding, at);
  }
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
  if (confirmation.kind === 'confirmed') {
    const { compared } = confirmation.transaction;
    return { kind: 'paid', ...shown, ...(compared ? { compared: compared.how } : {}) };
  }
  if (confirmation.kind === 'not_paid') return { kind: 'final_not_paid', ...shown };
  if (evidence.status.holds) {
    const wrong = evidence.reference.holds ? evidence.amount : evidence.reference;
    return { kind: 'mismatch', why: wrong.statement };
  }
  return { kind: 'pending', ...shown };
}

type Unproven = Exclude<Finding, { kind: 'mismatch' } | { kind: 'paid' }>;

/**
 * Concludes on a status that is known to be final, or on the charge's own answer. Else nothing is concluded while
 * a code may be open: an event that says "failed" is no more than a reason to look.
 *
 * Spec: awaiting OTP, 15 minutes pass; Events.
 */
function stillInDoubt(intent: ChargeIntent, found: Unproven, at: number): Step {
  if (found.kind === 'failed') return lookAgain(intent, at);
  const known = isThere(found) ? hear(intent, 'exists') : intent;
  const { heard, otp, failedAt } = known;
  if (heard.includes('paid')) return calledPaid(known, found, at);
  if (otp && isRefused(otp)) return conclude(known, at, 'wrong_codes');
  if (found.kind === 'final_not_paid') return notPaid(known, at);
  if (otp && otpStanding(otp, at).kind === 'open') return askForOtp(known, at);
  if (!otp && heard.includes('declined')) return conclude(known, at, 'declined', bankSaid(known));
  const isKnown = otp !== undefined || failedAt !== undefined || found.kind === 'pending';
  if (!isKnown) return heard.includes('exists') ? lookAgain(known, at) : neverSeen(known, at);
  const over = codeEndsAt(known) + chargeLimits.otpGraceMs;
  if (at < over) return lookAgain(known, at, over);
  return otp ? conclude(known, at, 'expired') : notPaid(known, at);
}

/** Whoever was told "approved" waits for proof; a record that says finally not paid is a person's case. */
function calledPaid(intent: ChargeIntent, found: Unproven, at: number): Step {
  if (found.kind !== 'final_not_paid') return lookAgain(intent, at);
  return conclude(intent, at, 'review', {
    why: `The service said that it was paid, and now shows it as ${found.status}`,
  });
}

/** Declined, unless it failed no sooner than the time for a code ran out. */
function notPaid(intent: ChargeIntent, at: number): Step {
  return (intent.failedAt ?? at) < codeEndsAt(intent)
    ? conclude(intent, at, 'declined', bankSaid(intent))
    : conclude(intent, at, 'expired');
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

function isThere({ kind }: Unproven): boolean {
  return kind === 'pending' || kind === 'final_not_paid';
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
  if (found.kind === 'failed') return enter(intent, state, at + chargeLimits.longestBackOffMs);
  const unsent = state.kind === 'abandoned' || state.kind === 'rejected';
  if (isThere(found) && unsent) return lookUp(hear(intent, 'exists'), at);
  if (!intent.told.includes(state.kind)) return enter(intent, state, at + chargeLimits.answerMs);
  return enter(intent, state, lateLookUpAt(intent, state, state.askedAt ?? at));
}
