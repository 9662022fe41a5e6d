import { describe, expect, it } from 'vitest';
import type { ChargeAnswer } from '../../../src/domain/charge-answer.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { storedChargeAnswer, storedOtpAnswer } from '../../../src/features/charge/run-charge.ts';

const cause = new ServiceFailure('timeout', 'No answer.');

function stored(answer: ChargeAnswer): ReturnType<typeof storedChargeAnswer> {
  return storedChargeAnswer(answer, () => 'sealed');
}

describe('storedChargeAnswer', () => {
  it('keeps a transaction id only sealed', () => {
    const answer = { kind: 'otp_required', transactionId: 'canary', message: 'Code sent' } as const;
    expect(stored(answer)).toEqual({ kind: 'otp_required', sealedTransactionId: 'sealed', why: 'Code sent' });
  });

  it('takes "already exists" as news of the charge, not as a rejection', () => {
    const message = 'An order already exists with this order reference';
    expect(stored({ kind: 'rejected', reason: 'reference_exists', message })).toEqual({
      kind: 'already_exists',
    });
  });

  it('keeps why a request was refused', () => {
    expect(stored({ kind: 'rejected', reason: 'invalid_token', message: 'Invalid card token' })).toEqual({
      kind: 'rejected',
      reason: 'invalid_token',
      why: 'Invalid card token',
    });
    expect(stored({ kind: 'not_made', failure: 'rate_limited', cause })).toEqual({
      kind: 'rejected',
      reason: 'rate_limited',
    });
    expect(stored({ kind: 'not_made', failure: 'invalid_request', message: 'no' })).toEqual({
      kind: 'rejected',
      reason: 'invalid_request',
      why: 'no',
    });
  });

  it('keeps nothing of an error, and leaves out words that were not said', () => {
    expect(stored({ kind: 'unknown', cause })).toEqual({ kind: 'unknown' });
    expect(stored({ kind: 'too_late' })).toEqual({ kind: 'unknown' });
    expect(stored({ kind: 'approved' })).toEqual({ kind: 'approved' });
    expect(Object.keys(stored({ kind: 'declined', bankMessage: undefined }))).toEqual(['kind']);
  });
});

describe('storedOtpAnswer', () => {
  it('tells a wrong code from one whose fate is unknown', () => {
    expect(storedOtpAnswer({ kind: 'wrong', bankMessage: 'Invalid OTP' })).toEqual({
      kind: 'wrong',
      why: 'Invalid OTP',
    });
    expect(storedOtpAnswer({ kind: 'accepted' })).toEqual({ kind: 'accepted' });
    expect(storedOtpAnswer({ kind: 'too_many' })).toEqual({ kind: 'too_many' });
    for (const answer of [
      { kind: 'unknown', cause } as const,
      { kind: 'too_late' } as const,
      { kind: 'not_made', failure: 'forbidden', cause } as const,
    ]) {
      expect(storedOtpAnswer(answer)).toEqual({ kind: 'unknown' });
    }
  });
});
