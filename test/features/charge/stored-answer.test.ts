import { describe, expect, it } from 'vitest';
import type { ChargeAnswer, OtpAnswer } from '../../../src/payments/charges.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { storedChargeAnswer, storedOtpAnswer } from '../../../src/features/charge/run-charge.ts';

const cause = new ServiceFailure('timeout', 'No answer.');

describe('the stored form of an answer', () => {
  it.each<[ChargeAnswer, object]>([
    [
      { kind: 'otp_required', transactionId: 'canary', message: 'Code sent' },
      { kind: 'otp_required', sealedTransactionId: 'sealed', why: 'Code sent' },
    ],
    [{ kind: 'rejected', reason: 'reference_exists', message: 'no' }, { kind: 'already_exists' }],
    [
      { kind: 'rejected', reason: 'invalid_token', message: 'Invalid' },
      { kind: 'rejected', reason: 'invalid_token', why: 'Invalid' },
    ],
    [
      { kind: 'not_made', failure: 'rate_limited', cause },
      { kind: 'rejected', reason: 'rate_limited' },
    ],
    [
      { kind: 'not_made', failure: 'invalid_request', message: 'no' },
      { kind: 'rejected', reason: 'invalid_request', why: 'no' },
    ],
    [{ kind: 'declined', bankMessage: undefined }, { kind: 'declined' }],
    [{ kind: 'approved' }, { kind: 'approved' }],
    [{ kind: 'unknown', cause }, { kind: 'unknown' }],
    [
      { kind: 'unknown', cause: new ServiceFailure('malformed', 'code 99', { said: 'Suspended' }) },
      { kind: 'unknown', why: 'Suspended' },
    ],
  ])('to a charge, %o, is %o', (answer, kept) => {
    expect(storedChargeAnswer(answer, () => 'sealed')).toStrictEqual(kept);
  });

  it.each<[OtpAnswer, object]>([
    [
      { kind: 'wrong', bankMessage: 'Invalid OTP' },
      { kind: 'wrong', why: 'Invalid OTP' },
    ],
    [{ kind: 'accepted' }, { kind: 'accepted' }],
    [
      { kind: 'too_many', bankMessage: 'TOO MANY OTP ATTEMPTS' },
      { kind: 'too_many', why: 'TOO MANY OTP ATTEMPTS' },
    ],
    [
      { kind: 'wrong', bankMessage: 'The payment has exceeded the time allowed' },
      { kind: 'wrong', why: 'The payment has exceeded the time allowed', isOver: true },
    ],
    [{ kind: 'unknown', cause }, { kind: 'unknown' }],
    [{ kind: 'not_made', failure: 'forbidden', cause }, { kind: 'unknown' }],
  ])('to a code, %o, is %o', (answer, kept) => {
    expect(storedOtpAnswer(answer)).toStrictEqual(kept);
  });
});
