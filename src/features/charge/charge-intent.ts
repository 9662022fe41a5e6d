import type { ConclusionDetails, ChargeState, Heard, Refusal, AgentNews } from '../../domain/charge.ts';
import type { Money } from '../../domain/money.ts';
import type { OrderReference } from '../../domain/order-reference.ts';

// What the machine (`machine.ts`) reads and returns: a charge, the events that move it, and the effects to run.

/**
 * One intent to charge, as plain JSON; secrets in it are sealed. Times are UTC ms. Card and e-mail are not here but on
 * the `ChargeRecord`, because no step needs them.
 */
export type ChargeIntent = {
  reference: OrderReference;
  money: Money;
  submittedAt: number;
  /** The time of the last step. Each step's time is later than the one before, also if a replica's clock is behind. */
  at: number;
  state: ChargeState;
  /** When a worker must continue; absent: the charge is done. */
  dueAt?: number;
  /** The time of each send: at most three (`chargeLimits.sends`), all under the same reference. */
  sends: readonly number[];
  /** Don't resend after a lost answer, because the service doesn't promise one charge per reference. */
  sendsOnce?: true;
  /** What the service has said about the reference; see `Heard`. */
  heard: readonly Heard[];
  told: readonly AgentNews[];
  /** When a signed event first said that the charge failed: a reason for a look-up, not a proof. */
  failedAt?: number;
  otp?: PendingOtp;
  /** The refusal of a second or third send; it says nothing about the earlier ones. */
  refusal?: Refusal;
  /** The bank's last words: where it sent the code, why it refused a code, or why it declined. */
  bankWords?: string;
  /** The transaction record's last words about the unpaid charge; used if the bank gives none. */
  recordWords?: string;
  history: readonly PastStep[];
};

/** A stored step. `times`: how many equal look-ups or timer steps in a row it stands for. */
export type PastStep = { at: number; event: ChargeEvent; times?: number };

/**
 * The answer to a charge request in the form that is stored, made by `storedChargeAnswer`.
 *
 * Spec: charge a saved card; Errors (saved-card charge rejections).
 */
export type StoredChargeAnswer =
  | { kind: 'approved' }
  | { kind: 'otp_required'; sealedTransactionId: string; why?: string }
  | ({ kind: 'declined' } & Pick<ConclusionDetails, 'why' | 'from'>)
  | { kind: 'already_exists' }
  | ({ kind: 'rejected' } & Refusal)
  /** `why`: the service's words, if it answered something that the specification doesn't have. */
  | { kind: 'unknown'; why?: string };

/** Spec: submit OTP; OTP errors. */
export type StoredOtpAnswer =
  | { kind: 'accepted' }
  /** `isOver`: the bank says that the payment's time is over. */
  | { kind: 'wrong'; why?: string; isOver?: true }
  | { kind: 'too_many'; why?: string }
  | { kind: 'unknown' };

/**
 * A look-up's result for this charge, made by `findingOf`. The history stores only this of the service's record.
 * `pending`: neither success nor a final status. `given_back`: paid, then returned to the customer. `mismatch`:
 * success, but with another amount or reference. `failed`: the look-up was not answered. `compared`: how the settings
 * compute the paid amount.
 */
export type Finding =
  | { kind: 'paid'; status?: string; compared?: string }
  | { kind: 'pending' | 'final_not_paid'; status?: string; why?: string }
  | { kind: 'given_back'; status?: string }
  | { kind: 'mismatch'; why: string }
  | { kind: 'not_found' }
  | { kind: 'failed' };

/** `by`: a person. Events never contain an OTP, and a transaction id only sealed. */
export type ChargeEvent =
  | { kind: 'submitted'; reference: OrderReference; money: Money; by: string; sendsOnce?: true }
  | { kind: 'charge_answered'; send: number; answer: StoredChargeAnswer }
  | { kind: 'looked_up'; askedAt: number; finding: Finding }
  | { kind: 'otp_submitted'; by: string }
  | { kind: 'otp_answered'; submission: number; answer: StoredOtpAnswer }
  /** Signed events, verified before. */
  | { kind: 'payment_success' }
  | { kind: 'payment_failed'; why?: string }
  | { kind: 'payment_given_back' }
  /** The intent is due: its timer ran out, a process crashed or an answer was lost. */
  | { kind: 'due' }
  /** A person or an unsigned reference asks for a look-up now. */
  | { kind: 'look_up_asked'; by: string }
  /** The message of a `tell` is stored, and will be delivered. */
  | { kind: 'told'; what: AgentNews };

/**
 * The work to do once the step is stored; only the process that stored the step does it, until the intent is due again. A
 * call must be sent by `leaveBy` or not at all; if it isn't, its answer is `unknown`. `key` makes `tell` idempotent.
 */
export type Effect =
  | { kind: 'charge'; reference: OrderReference; send: number; leaveBy: number }
  | { kind: 'look_up'; reference: OrderReference; askedAt: number }
  | {
      kind: 'submit_otp';
      reference: OrderReference;
      sealedTransactionId: string;
      submission: number;
      leaveBy: number;
    }
  /** `approved`: the only message that says paid, on which goods are delivered. `otp`: asks for the code. */
  | { kind: 'tell'; what: AgentNews; key: string };

export type Step = { next: ChargeIntent; effect: Effect | undefined };

/** The bank's open request for a code. The code itself is never part of it. */
export type PendingOtp = {
  /** Sealed by the caller; machine and history only pass it on. */
  sealedTransactionId: string;
  /** UTC ms: 15 minutes after the charge was sent, so never later than the service's own limit. */
  until: number;
  /** Codes that may have been sent; counted before each is sent. */
  tries: number;
  /** Codes of these that no answer refused: the bank may have accepted one. */
  unanswered: number;
  /**
   * When the wait for a code's answer was last given up, or the bank said that the code's time is over. From then on the
   * charge is looked up while the form stays open.
   */
  lostAt?: number;
};
