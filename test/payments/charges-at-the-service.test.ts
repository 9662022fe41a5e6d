import { describe, expect, it } from 'vitest';
import type { Leave, SavedCardCharge } from '../../src/domain/charge-answer.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { chargeSavedCard, resendOtp, submitOtp } from '../../src/payments/charges.ts';
import { otps, threeDSecureWords } from '../../src/simulators/payments/bank.ts';
import { sandboxInputs } from '../../src/simulators/payments/sandbox.ts';
import { foreignTokenKey, seedCards } from '../../src/simulators/payments/seed.ts';
import { startMerchant, type Merchant } from '../simulators/payments/merchant.ts';
import { chargePath, clientAt, clientOf, fixedToken, inTime, otpPath } from './charging.ts';

const { approves, requiresOtp } = seedCards;
const kobo = {
  otp: 1,
  insufficientFunds: 2,
  doNotHonour: 3,
  threeDSecure: 4,
  silenceBefore: 5,
  silenceAfter: 6,
  error500After: 7,
  resetBefore: 8,
  resetAfter: 9,
  error500Before: 10,
  unreadableAfter: 11,
  cardsNotEnabled: 14,
};

function chargeOf(minor: number, more: Partial<SavedCardCharge> = {}): SavedCardCharge {
  return {
    tokenKey: approves.tokenKey,
    money: { minor, currency: 'NGN' },
    customerEmail: approves.customerEmail,
    reference: 'PAY-1' as OrderReference,
    ...more,
  };
}

function chargeAt(merchant: Merchant, charge: SavedCardCharge, timeoutMs = 5_000) {
  return chargeSavedCard(
    clientAt(merchant, { timeoutMs }),
    merchant.service.credentials.accountId,
    charge,
    inTime,
  );
}

/** A charge that waits for its OTP. */
async function openOtp(merchant: Merchant) {
  const charge = chargeOf(500_000, {
    tokenKey: requiresOtp.tokenKey,
    customerEmail: requiresOtp.customerEmail,
  });
  const answer = await chargeAt(merchant, charge);
  if (answer.kind !== 'otp_required') throw new Error(`The charge is ${answer.kind}.`);
  const { transactionId } = answer;
  function submit(otp: string, timeoutMs = 5_000) {
    const submission = {
      otp,
      transactionId,
      reference: charge.reference,
    } as const;
    return submitOtp(clientAt(merchant, { timeoutMs }), submission, inTime);
  }
  return { transactionId, submit };
}

describe('chargeSavedCard at the service', () => {
  it.each([
    ['approved', 0, { kind: 'approved' }, 1],
    ['pending', kobo.otp, { kind: 'otp_required', transactionId: expect.stringMatching(/^otp-/) }, 0],
    ['declined', kobo.insufficientFunds, { kind: 'declined', bankMessage: 'Insufficient funds' }, 0],
    ['declined for another reason', kobo.doNotHonour, { kind: 'declined', bankMessage: 'Do not honour' }, 0],
    [
      'declined where 3-D Secure is asked for',
      kobo.threeDSecure,
      { kind: 'declined', bankMessage: threeDSecureWords },
      0,
    ],
    ['rejected', kobo.cardsNotEnabled, { kind: 'rejected', reason: 'card_not_supported' }, 0],
  ])('is %s', async (_what, cents, answer, charges) => {
    const merchant = await startMerchant();
    expect(await chargeAt(merchant, chargeOf(500_000 + cents))).toMatchObject(answer);
    expect(Object.values(merchant.service.stats().chargesByReference)).toEqual(charges === 1 ? [1] : []);
  });

  it.each([
    ['invalid_token', { tokenKey: 'tok-nobody' }],
    ['invalid_token', { tokenKey: foreignTokenKey }],
    ['email_mismatch', { customerEmail: 'x@example.com' }],
    ['reference_exists', { reference: 'ORDER-1002' as OrderReference }],
    ['email_invalid', { customerEmail: 'nobody' }],
  ])('is rejected with %s', async (reason, wrong) => {
    const merchant = await startMerchant();
    expect(await chargeAt(merchant, chargeOf(500_000, wrong))).toMatchObject({ kind: 'rejected', reason });
    expect(merchant.service.stats().chargesByReference).toEqual({});
  });

  it.each([
    ['hang', kobo.silenceBefore, 'timeout'],
    ['reset', kobo.resetBefore, 'network'],
    ['500', kobo.error500Before, 'server'],
  ])(
    'is in doubt after a %s before charging, and the same reference is approved the next time',
    async (_what, cents, failure) => {
      const merchant = await startMerchant();
      const charge = chargeOf(500_000 + cents);
      expect(await chargeAt(merchant, charge, 500)).toMatchObject({
        kind: 'unknown',
        cause: { kind: failure },
      });
      expect(await chargeAt(merchant, charge)).toEqual({ kind: 'approved' });
    },
  );

  it.each([
    ['hang', kobo.silenceAfter, 'timeout'],
    ['reset', kobo.resetAfter, 'network'],
    ['500', kobo.error500After, 'server'],
    ['unreadable answer', kobo.unreadableAfter, 'malformed'],
  ])(
    'is in doubt after a %s after charging, and the reference exists the next time',
    async (_what, cents, failure) => {
      const merchant = await startMerchant();
      const charge = chargeOf(500_000 + cents);
      expect(await chargeAt(merchant, charge, 500)).toMatchObject({
        kind: 'unknown',
        cause: { kind: failure },
      });
      expect(await chargeAt(merchant, charge)).toMatchObject({
        kind: 'rejected',
        reason: 'reference_exists',
      });
      expect(merchant.service.stats().chargesByReference).toEqual({ [charge.reference]: 1 });
    },
  );

  it.each([
    ['unauthorized', { kind: 'not_made', failure: 'unauthorized' }, 2],
    ['rate_limited', { kind: 'not_made', failure: 'rate_limited' }, 1],
    ['error_500', { kind: 'unknown', cause: { kind: 'server' } }, 1],
  ] as const)('tells the weather %s in %j', async (weather, answer, calls) => {
    const merchant = await startMerchant();
    await merchant.service.act({ kind: 'set_weather', weather });
    expect(await chargeAt(merchant, chargeOf(500_000))).toMatchObject(answer);
    expect(merchant.service.stats().calls[`POST ${chargePath}`]).toBe(calls);
  });

  it('was not made without permission, nor with a body that fails validation', async () => {
    const merchant = await startMerchant();
    const charge = chargeOf(500_000);
    expect(await chargeSavedCard(clientAt(merchant), 'no-uuid', charge, inTime)).toMatchObject({
      failure: 'forbidden',
    });
    const broken = chargeOf(500_000, { money: { minor: 500_000, currency: 'naira' } });
    expect(await chargeAt(merchant, broken)).toMatchObject({
      failure: 'invalid_request',
      message: expect.stringContaining('currency'),
    });
    expect(merchant.service.stats().chargesByReference).toEqual({});
  });

  it('is made once when the access token had ended', async () => {
    const merchant = await startMerchant();
    const client = clientOf({ baseUrl: merchant.service.url }, fixedToken('ended', merchant.token));
    const { accountId } = merchant.service.credentials;
    expect(await chargeSavedCard(client, accountId, chargeOf(500_000), inTime)).toEqual({ kind: 'approved' });
    expect(merchant.service.stats().chargesByReference).toEqual({ 'PAY-1': 1 });
  });

  it('reaches nobody when it is too late', async () => {
    const merchant = await startMerchant();
    const late: Leave = { leaveBy: merchant.clock.now - 1, now: () => merchant.clock.now };
    const { accountId } = merchant.service.credentials;
    const client = clientAt(merchant);
    expect(await chargeSavedCard(client, accountId, chargeOf(500_000), late)).toEqual({ kind: 'too_late' });
    expect(merchant.service.stats().calls[`POST ${chargePath}`]).toBeUndefined();
  });

  it('tells the sandbox’s fixed answers: approved, and code "404" as in doubt', async () => {
    const merchant = await startMerchant();
    const client = clientAt(merchant, { sandbox: true });
    const { accountId } = merchant.service.credentials;
    const any = chargeOf(500_000);
    expect(await chargeSavedCard(client, accountId, any, inTime)).toEqual({ kind: 'approved' });
    const unknown = { ...any, reference: sandboxInputs.unknownReference as OrderReference };
    expect(await chargeSavedCard(client, accountId, unknown, inTime)).toMatchObject({ kind: 'unknown' });
  });
});

describe('an OTP at the service', () => {
  it('is wrong, then accepted; a resend in between changes nothing', async () => {
    const merchant = await startMerchant();
    const { submit, transactionId } = await openOtp(merchant);
    expect(await submit('000000')).toEqual({ kind: 'wrong', bankMessage: 'Invalid OTP' });
    expect(await resendOtp(clientAt(merchant), transactionId, inTime)).toEqual({
      kind: 'resent',
      message: 'OTP sent again',
    });
    expect(merchant.service.stats().otpResends).toBe(1);
    expect(await submit(otps.right)).toEqual({ kind: 'accepted' });
    expect(merchant.service.stats().chargesByReference).toEqual({ 'PAY-1': 1 });
    expect(await resendOtp(clientAt(merchant), transactionId, inTime)).toMatchObject({ kind: 'refused' });
  });

  it('is one too many after three, right as it may be', async () => {
    const merchant = await startMerchant();
    const { submit } = await openOtp(merchant);
    for (const otp of ['000001', '000002', '000003']) expect((await submit(otp)).kind).toBe('wrong');
    expect(await submit(otps.right)).toEqual({ kind: 'too_many' });
    expect(merchant.service.stats().chargesByReference).toEqual({});
  });

  it('is refused in the bank’s words after 15 minutes', async () => {
    const merchant = await startMerchant();
    const { submit } = await openOtp(merchant);
    merchant.clock.now += 15 * 60_000;
    expect(await submit(otps.right)).toMatchObject({
      kind: 'wrong',
      bankMessage: expect.stringContaining('time'),
    });
  });

  it('is in doubt when it was accepted and not answered', async () => {
    const merchant = await startMerchant();
    const { submit } = await openOtp(merchant);
    expect(await submit(otps.acceptedSilently, 500)).toMatchObject({
      kind: 'unknown',
      cause: { kind: 'timeout' },
    });
    expect(merchant.service.stats().chargesByReference).toEqual({ 'PAY-1': 1 });
  });

  it('is in doubt for a transaction nobody knows, and a resend is refused', async () => {
    const merchant = await startMerchant();
    const client = clientAt(merchant);
    const stray = {
      otp: '123456',
      transactionId: 'nobody',
      reference: chargeOf(1).reference,
    } as const;
    expect(await submitOtp(client, stray, inTime)).toMatchObject({
      kind: 'unknown',
      cause: { httpStatus: 404 },
    });
    expect(await resendOtp(client, 'nobody', inTime)).toMatchObject({ kind: 'refused' });
  });

  it('leaves not at all when it is too late, and burns no try', async () => {
    const merchant = await startMerchant();
    const { transactionId } = await openOtp(merchant);
    const late: Leave = { leaveBy: 0, now: () => merchant.clock.now };
    const submission = {
      otp: otps.right,
      transactionId,
      reference: chargeOf(1).reference,
    } as const;
    expect(await submitOtp(clientAt(merchant), submission, late)).toEqual({ kind: 'too_late' });
    expect(await resendOtp(clientAt(merchant), transactionId, late)).toEqual({ kind: 'too_late' });
    expect(merchant.service.stats()).toMatchObject({ otpSubmissions: 0, otpResends: 0 });
    expect(merchant.service.stats().calls[`POST ${otpPath}`]).toBeUndefined();
  });

  it.each([
    [sandboxInputs.approvedOtp, { kind: 'accepted' }],
    [sandboxInputs.timedOutOtp, { kind: 'wrong', bankMessage: 'The payment has exceeded the time allowed' }],
    [sandboxInputs.wrongOtp, { kind: 'wrong', bankMessage: 'Invalid OTP' }],
  ])('%s in the sandbox is %j', async (otp, answer) => {
    const merchant = await startMerchant();
    const submission = {
      otp,
      transactionId: 'any',
      reference: chargeOf(1).reference,
    } as const;
    expect(await submitOtp(clientAt(merchant, { sandbox: true }), submission, inTime)).toEqual(answer);
  });
});
