/** Spec: Limits (OTP validity, OTP submissions). */
export const otpLimits = {
  submissions: 3,
  windowMs: 15 * 60_000,
  /** Nothing is submitted in the last seconds: the code would arrive late, and replicas' clocks differ a little. */
  marginMs: 5_000,
} as const;

/** The bank's open question about one charge. The code itself is never part of it. */
export type PendingOtp = {
  /** Sealed before it gets here: the machine and its history only carry it. */
  sealedTransactionId: string;
  /** UTC ms: 15 minutes after the charge was sent, which is never later than the service's own limit. */
  until: number;
  /** Submissions that may have left, counted before each leaves. */
  tries: number;
  /** Those of them that no answer has refused: the bank may have taken their code. */
  unanswered: number;
};

export type OtpStanding =
  | { kind: 'open'; triesLeft: number; leaveBy: number }
  | { kind: 'tries_used' }
  | { kind: 'time_over' };

/**
 * Whether one more code may be submitted, and until when it may leave. Resending the code changes neither.
 *
 * Spec: Limits; Card-saving payment and saved-card charge (awaiting OTP).
 */
export function otpStanding(otp: PendingOtp, now: number): OtpStanding {
  const leaveBy = otp.until - otpLimits.marginMs;
  if (now > leaveBy) return { kind: 'time_over' };
  const triesLeft = otpLimits.submissions - otp.tries;
  return triesLeft > 0 ? { kind: 'open', triesLeft, leaveBy } : { kind: 'tries_used' };
}

/** Every code that may be entered was, and each was refused: nothing is in doubt. */
export function isRefused({ tries, unanswered }: Pick<PendingOtp, 'tries' | 'unanswered'>): boolean {
  return tries >= otpLimits.submissions && unanswered === 0;
}
