import type { NotMade, RejectionReason } from './charge-answer.ts';
import type { Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';
import type { PendingOtp } from './otp-rules.ts';

/** All in ms. */
export const chargeLimits = {
  /** A charge or an OTP may leave only this long after its state was written. */
  leaveMs: 25_000,
  /** Then its answer is no longer waited for, and any replica may take over. */
  answerMs: 30_000,
  sends: 3,
  /** Nothing is sent again later than this: nobody expects a charge minutes after the click. */
  resendMs: 120_000,
  /** How long after the last send "not found" may still mean "on its way". */
  quietMs: 60_000,
  /** How long after the end of the time for a code the service may still be asking the bank. */
  otpGraceMs: 60_000,
  shortestBackOffMs: 1_000,
  longestBackOffMs: 300_000,
  doubtMs: 24 * 3_600_000,
  lateLookUpMs: 24 * 3_600_000,
} as const;

/**
 * A charge leaves at most `resendMs` + `leaveMs` of `chargeLimits` after its claim. A pending attempt without a
 * charge is cleared after `lostMs`; one that is claimed again later than `renewMs` is claimed anew, so that what
 * the new claim sends has left long before anybody could clear it, though the replicas' clocks differ a little.
 */
export const claimTimes = { renewMs: 60_000, lostMs: 300_000 } as const;

/**
 * How a charge ends. `abandoned`: nothing of it ever reached the service. `wrong_codes`: each code was refused.
 * `expired`: nobody paid while a code could be open. `review`: a person must look.
 */
export type Verdict =
  | 'approved'
  | 'declined'
  | 'rejected'
  | 'abandoned'
  | 'wrong_codes'
  | 'expired'
  | 'review';

/** What the agent is told, each once. */
export type Told = Verdict | 'otp';

/**
 * What the service has said about the reference, whoever said it and whenever. `exists`: it knows it; `paid`: an
 * answer or a signed event says so, which is no proof; `declined`: the charge's own answer, when it came late.
 */
export type Heard = 'exists' | 'paid' | 'declined';

/**
 * `askedAt` names the look-up under way: an answer to an earlier one may be older than the last send.
 * `why` is the bank's, the service's or the look-up's own words.
 */
export type ChargeState =
  | { kind: 'charging' }
  | { kind: 'confirming'; since: number; askedAt: number }
  | { kind: 'otp'; askedAt?: number }
  | { kind: 'otp_checking' }
  | Conclusion;

export type Conclusion = { kind: Verdict; concludedAt: number; askedAt?: number } & Because;

/** `reason` with a rejection: each has its own fix. */
export type Because = { why?: string; reason?: Refusal['reason'] };

/**
 * One intent to charge, whole: plain JSON, no secret in it that is not sealed. Times are UTC ms.
 * What is charged (card, e-mail) belongs to the record around it; the machine needs only what proof needs.
 */
export type ChargeIntent = {
  reference: OrderReference;
  money: Money;
  submittedAt: number;
  /** The last step. Each step is later than the one before, whatever a replica's clock says. */
  at: number;
  state: ChargeState;
  /** When a worker must look at it again; absent when all is done. */
  dueAt?: number;
  /** When each send was decided; at most three, all of the one reference. */
  sends: readonly number[];
  heard: readonly Heard[];
  told: readonly Told[];
  /** When a signed event first said that it failed: a reason to look up, and never a proof. */
  failedAt?: number;
  otp?: PendingOtp;
  /** A refused repeat: the earlier send is not accounted for by it. */
  refusal?: Refusal;
  /** The last the bank said: where it sent the code, what was wrong with one, why it declined. */
  bankWords?: string;
  history: readonly Past[];
};

/** One step as it happened. `times`: look-ups that found the same, one after the other, are kept as one. */
export type Past = { at: number; event: ChargeEvent; times?: number };

/** Why the service refused a request before the bank saw it, and its own words if it had any. */
export type Refusal = {
  reason: Exclude<RejectionReason, 'reference_exists'> | NotMade['failure'];
  why?: string;
};

/**
 * The answer to one charge request as the history keeps it: `storedChargeAnswer` makes it from the wire's.
 *
 * Spec: charge a saved card; Errors (saved-card charge rejections).
 */
export type StoredChargeAnswer =
  | { kind: 'approved' }
  | { kind: 'otp_required'; sealedTransactionId: string; why?: string }
  | { kind: 'declined'; why?: string }
  | { kind: 'already_exists' }
  | ({ kind: 'rejected' } & Refusal)
  | { kind: 'unknown' };

/** Spec: submit OTP; OTP errors. */
export type StoredOtpAnswer =
  | { kind: 'accepted' }
  | { kind: 'wrong'; why?: string }
  | { kind: 'too_many' }
  | { kind: 'unknown' };

/**
 * What a look-up says of this very charge, judged by `findingOf` where it was asked: no more of the record than
 * this enters a history. `pending`: a status that is neither success nor known to be final. `mismatch`: success,
 * but of another amount or reference. `failed`: the look-up itself had no answer.
 */
export type Finding =
  | { kind: 'paid'; status?: string; compared?: string }
  | { kind: 'pending' | 'final_not_paid'; status?: string }
  | { kind: 'mismatch'; why: string }
  | { kind: 'not_found' }
  | { kind: 'failed' };

/** `by` is who did it. No event carries an OTP, and a transaction id only sealed. */
export type ChargeEvent =
  | { kind: 'submitted'; reference: OrderReference; money: Money; by: string }
  | { kind: 'charge_answered'; send: number; answer: StoredChargeAnswer }
  | { kind: 'looked_up'; askedAt: number; finding: Finding }
  | { kind: 'otp_submitted'; by: string }
  | { kind: 'otp_answered'; submission: number; answer: StoredOtpAnswer }
  /** Signed events, verified before they get here. */
  | { kind: 'payment_success' }
  | { kind: 'payment_failed'; why?: string }
  /** The store gave the intent out as due: a timer, a crash or a lost answer. */
  | { kind: 'due' }
  /** A person wants to know now. */
  | { kind: 'look_up_asked'; by: string }
  /** What a `tell`, `give_value` or `ask_for_otp` had to say is on record and will be delivered. */
  | { kind: 'told'; what: Told };

/**
 * What to do once the next state is written, by whoever wrote it and nobody else. A call that has not
 * left by `leaveBy` must not leave, and counts as `unknown`; `giveUpAt` is when its answer is no
 * longer waited for. `key` makes telling and giving repeatable: the same key is done once.
 */
export type Effect =
  | { kind: 'charge'; reference: OrderReference; send: number; leaveBy: number; giveUpAt: number }
  | { kind: 'look_up'; reference: OrderReference; askedAt: number }
  | { kind: 'ask_for_otp'; key: string; triesLeft: number; until: number }
  | {
      kind: 'submit_otp';
      reference: OrderReference;
      sealedTransactionId: string;
      submission: number;
      leaveBy: number;
      giveUpAt: number;
    }
  /** Gives value and tells; the only effect that may say paid. */
  | { kind: 'give_value'; key: string; corrects?: Verdict }
  | { kind: 'tell'; what: Verdict; key: string; corrects?: Verdict };

export type Step = { next: ChargeIntent; effect: Effect | undefined };
