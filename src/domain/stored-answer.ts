import type { ChargeAnswer, OtpAnswer } from './charge-answer.ts';
import type { StoredChargeAnswer, StoredOtpAnswer } from './charge-state.ts';

/**
 * What the machine and its history may know of a charge's answer: no secret that `seal` has not sealed and
 * no error. "Already exists" is no rejection but news of the charge; what was never sent or never answered
 * is alike unknown, and a look-up tells.
 *
 * Spec: charge a saved card (retry rules); Errors (saved-card charge rejections).
 */
export function storedChargeAnswer(
  answer: ChargeAnswer,
  seal: (transactionId: string) => string,
): StoredChargeAnswer {
  switch (answer.kind) {
    case 'approved':
      return { kind: 'approved' };
    case 'otp_required':
      return {
        kind: 'otp_required',
        sealedTransactionId: seal(answer.transactionId),
        ...words(answer.message),
      };
    case 'declined':
      return { kind: 'declined', ...words(answer.bankMessage) };
    case 'rejected':
      if (answer.reason === 'reference_exists') return { kind: 'already_exists' };
      return { kind: 'rejected', reason: answer.reason, ...words(answer.message) };
    case 'not_made':
      return {
        kind: 'rejected',
        reason: answer.failure,
        ...words(answer.failure === 'invalid_request' ? answer.message : undefined),
      };
    case 'unknown':
    case 'too_late':
      return { kind: 'unknown' };
  }
}

/** A code that was refused at the door keeps its try: it costs one rather than risk a fourth. */
export function storedOtpAnswer(answer: OtpAnswer): StoredOtpAnswer {
  switch (answer.kind) {
    case 'accepted':
    case 'too_many':
      return { kind: answer.kind };
    case 'wrong':
      return { kind: 'wrong', ...words(answer.bankMessage) };
    case 'not_made':
    case 'unknown':
    case 'too_late':
      return { kind: 'unknown' };
  }
}

function words(why: string | undefined): { why?: string } {
  return why === undefined ? {} : { why };
}
