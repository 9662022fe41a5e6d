import {
  chargeLimits,
  type Because,
  type ChargeIntent,
  type ChargeState,
  type Conclusion,
  type Effect,
  type Heard,
  type Step,
  type Told,
  type Verdict,
} from './charge-state.ts';
import { otpLimits, otpStanding } from './otp-rules.ts';

/** Sends the charge, again under the same reference. Spec: charge a saved card (retry rules). */
export function charge(intent: ChargeIntent, at: number): Step {
  const sends = [...intent.sends, at];
  const { reference } = intent;
  return enter({ ...intent, sends }, { kind: 'charging' }, at + chargeLimits.answerMs, {
    kind: 'charge',
    reference,
    send: sends.length,
    leaveBy: at + chargeLimits.leaveMs,
    giveUpAt: at + chargeLimits.answerMs,
  });
}

/** Asks what became of it; a concluded intent is in doubt again. Spec: Transactions. */
export function lookUp(intent: ChargeIntent, at: number): Step {
  const since = intent.state.kind === 'confirming' ? intent.state.since : at;
  const state = { kind: 'confirming', since, askedAt: at } as const;
  return enter(intent, state, at + chargeLimits.answerMs, lookUpEffect(intent, at));
}

/** Asks once more and stays concluded meanwhile. */
export function lookUpLate(intent: ChargeIntent, state: Conclusion, at: number): Step {
  return enter(intent, { ...state, askedAt: at }, at + chargeLimits.answerMs, lookUpEffect(intent, at));
}

/** Asks, and the code stays open meanwhile: nobody who is typing one is interrupted. */
export function lookUpOpen(intent: ChargeIntent, at: number): Step {
  return enter(intent, { kind: 'otp', askedAt: at }, intent.dueAt, lookUpEffect(intent, at));
}

function lookUpEffect({ reference }: ChargeIntent, askedAt: number): Effect {
  return { kind: 'look_up', reference, askedAt };
}

/** Opens the OTP to agents if tries and time are left, and looks up otherwise. Spec: pending OTP; OTP errors. */
export function askForOtp(intent: ChargeIntent, at: number): Step {
  const standing = intent.otp && otpStanding(intent.otp, at);
  if (!intent.otp || standing?.kind !== 'open') return lookUp(intent, at);
  const { until } = intent.otp;
  const dueAt = intent.told.includes('otp') ? until : Math.min(until, at + chargeLimits.answerMs);
  const { triesLeft } = standing;
  return enter(intent, { kind: 'otp' }, dueAt, {
    kind: 'ask_for_otp',
    key: tellKey(intent, 'otp'),
    triesLeft,
    until,
  });
}

/** The try is counted here, before the code leaves: a crash in between costs a try, never allows a fourth. */
export function submitOtp(intent: ChargeIntent, at: number): Step | undefined {
  const { otp, reference } = intent;
  if (intent.state.kind !== 'otp' || !otp) return undefined;
  const standing = otpStanding(otp, at);
  if (standing.kind !== 'open') return undefined;
  const counted = { ...otp, tries: otp.tries + 1, unanswered: otp.unanswered + 1 };
  const giveUpAt = at + chargeLimits.answerMs;
  return enter({ ...intent, otp: counted }, { kind: 'otp_checking' }, giveUpAt, {
    kind: 'submit_otp',
    reference,
    sealedTransactionId: otp.sealedTransactionId,
    submission: counted.tries,
    leaveBy: Math.min(at + chargeLimits.leaveMs, standing.leaveBy),
    giveUpAt,
  });
}

/** Ends the intent for now, and tells unless this very verdict was told before. */
export function conclude(intent: ChargeIntent, at: number, verdict: Verdict, because: Because = {}): Step {
  const state: Conclusion = { kind: verdict, concludedAt: at, ...because };
  return intent.told.includes(verdict)
    ? enter(intent, state, lateLookUpAt(intent, state, at))
    : announce(intent, state, at);
}

/** Repeated until it is on record as told; the key makes the repeats one. */
export function announce(intent: ChargeIntent, state: Conclusion, at: number): Step {
  const key = tellKey(intent, state.kind);
  const corrects = intent.told.findLast((what) => what !== 'otp');
  const shared = corrects === undefined ? { key } : { key, corrects };
  const effect: Effect =
    state.kind === 'approved'
      ? { kind: 'give_value', ...shared }
      : { kind: 'tell', what: state.kind, ...shared };
  return enter(intent, state, at + chargeLimits.answerMs, effect);
}

function tellKey({ reference }: ChargeIntent, what: Told): string {
  return `told:${what}:${reference}`;
}

/** When the time for a code is over, if the bank wants one: what no answer has told may still be paid until then. */
export function codeEndsAt({ otp, sends }: ChargeIntent): number {
  return otp?.until ?? Math.max(...sends) + otpLimits.windowMs;
}

/**
 * When a conclusion is looked at next, in case money moves after all: a request can arrive late and a bank can
 * change its mind. A refused only send is sure, as are proof and a case that a person has. `since` is the last
 * answered look-up, else the conclusion: a look that was missed, because its process stood still, is still owed.
 */
export function lateLookUpAt(intent: ChargeIntent, state: Conclusion, since: number): number | undefined {
  const { kind } = state;
  const sure = kind === 'approved' || kind === 'review' || (kind === 'rejected' && intent.sends.length === 1);
  if (sure) return undefined;
  // The service asks the bank itself once the time for the code is over.
  const bankAsked = kind === 'wrong_codes' ? [codeEndsAt(intent) + chargeLimits.otpGraceMs] : [];
  return [...bankAsked, state.concludedAt + chargeLimits.lateLookUpMs].find((time) => time > since);
}

/** What an answer or an event said in words; the last words stay when it brought none. */
export function quote(intent: ChargeIntent, { why }: { why?: string }): ChargeIntent {
  return why === undefined ? intent : { ...intent, bankWords: why };
}

export function hear(intent: ChargeIntent, heard: Heard): ChargeIntent {
  return intent.heard.includes(heard) ? intent : { ...intent, heard: [...intent.heard, heard] };
}

/** The intent in another state, due then; without a time it is finished. */
export function enter(
  intent: ChargeIntent,
  state: ChargeState,
  dueAt: number | undefined,
  effect?: Effect,
): Step {
  const { dueAt: _before, ...rest } = intent;
  const next: ChargeIntent = dueAt === undefined ? { ...rest, state } : { ...rest, state, dueAt };
  return { next, effect };
}
