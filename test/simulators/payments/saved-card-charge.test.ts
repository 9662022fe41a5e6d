import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foreignTokenKey, seedCards } from '../../../src/simulators/payments/seed.ts';
import { eventsOf, startMerchant, startReceiver } from './merchant.ts';

const minuteMs = 60_000;
const { approves, requiresOtp, declines, threeDSecure } = seedCards;

describe('a charge that needs an OTP', () => {
  it('is not found under the service’s order id or with another transaction id', async () => {
    const merchant = await startMerchant();
    const { data } = await merchant.chargeCard(requiresOtp, 'O-2');
    const attempts = [
      { orderReference: data['orderId'], transactionId: data['transactionId'] },
      { orderReference: 'O-2', transactionId: 'another' },
    ];
    for (const attempt of attempts) {
      const body = { otp: '123456', ...attempt };
      expect((await merchant.callBare('POST', '/v1/checkout/checkout-card-otp', { body })).status).toBe(404);
    }
  });

  it('fails with payment_failed on the fourth OTP', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    const { transactionId } = (await merchant.chargeCard(requiresOtp, 'O-3')).data;
    for (const otp of ['1', '2', '3']) await merchant.submitOtp('O-3', transactionId, otp);
    expect((await merchant.submitOtp('O-3', transactionId, '123456')).data['message']).toBe(
      'TOO MANY OTP ATTEMPTS',
    );
    expect((await eventsOf(merchant, receiver)).map(({ event }) => event)).toEqual(['payment_failed']);
    expect(merchant.service.stats().chargesByReference).toEqual({});
  });

  it('fails after 15 minutes, which a resend does not lengthen', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    const { transactionId } = (await merchant.chargeCard(requiresOtp, 'O-4')).data;
    merchant.clock.now += 15 * minuteMs - 1;
    const body = { orderReference: transactionId };
    expect((await merchant.callBare('POST', '/v1/checkout/resend-otp', { body })).data['status']).toBe(true);
    expect(merchant.service.state().orders[0]?.state).toBe('awaiting_otp');
    merchant.clock.now += 1;
    expect((await merchant.submitOtp('O-4', transactionId, '123456')).data['status']).toBe(false);
    expect((await merchant.lookUp('O-4')).data['status']).toBe('FAILED');
    expect((await eventsOf(merchant, receiver)).map(({ event }) => event)).toEqual(['payment_failed']);
  });

  it('is resent by its transaction id, not by its reference, and without headers', async () => {
    const merchant = await startMerchant();
    await merchant.chargeCard(requiresOtp, 'O-5');
    const body = { orderReference: 'O-5' };
    expect((await merchant.callBare('POST', '/v1/checkout/resend-otp', { body })).status).toBe(404);
    expect(merchant.service.state().orders[0]?.otp?.resends).toBe(0);
  });
});

describe('a rejected charge', () => {
  const valid = {
    amount: '5000.00',
    currency: 'NGN',
    customerEmail: approves.customerEmail,
    orderReference: 'R-1',
  };
  it.each([
    ['Invalid card token', 'tok-nobody', valid],
    ['Invalid card token', foreignTokenKey, valid],
    [
      "Email address doesn't match token key",
      approves.tokenKey,
      { ...valid, customerEmail: 'x@example.com' },
    ],
    [
      'An order already exists with this order reference',
      approves.tokenKey,
      { ...valid, orderReference: 'ORDER-1002' },
    ],
    ['Customer email is invalid', approves.tokenKey, { ...valid, customerEmail: 'nobody' }],
    ['Customer email is invalid', approves.tokenKey, { ...valid, customerEmail: undefined }],
    [
      'Card payment is not supported for this order. Please use a different payment method.',
      approves.tokenKey,
      { ...valid, amount: '5000.14' },
    ],
  ])('says "%s" and sends nothing to the bank', async (message, tokenKey, body) => {
    const merchant = await startMerchant();
    const reply = await merchant.charge(body, tokenKey);
    expect(reply.body).toMatchObject({ code: '400', status: false });
    expect(reply.data).toEqual({
      status: false,
      message,
      otpRequired: false,
      orderId: null,
      orderReference: null,
    });
    expect(merchant.service.stats().chargesByReference).toEqual({});
    expect((await merchant.lookUp('R-1')).body).toMatchObject({ code: '01', data: null });
  });
});

describe('one reference', () => {
  it('is charged once even by many simultaneous requests', async () => {
    const merchant = await startMerchant({ rateLimit: { limit: 1e6, windowMs: minuteMs } });
    const cards = fc.constantFrom(approves, requiresOtp, declines, threeDSecure);
    const request = fc.record({ card: cards, name: fc.integer({ min: 0, max: 3 }) });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 12 }), async (requests) => {
        run += 1;
        const replies = await Promise.all(
          requests.map(({ card, name }) => merchant.chargeCard(card, `P-${run}-${name}`)),
        );
        const names = new Set(requests.map(({ name }) => name));
        const sent = replies.filter(({ body }) => body['code'] === '00');
        expect(sent).toHaveLength(names.size);
        const exists = replies.filter(
          ({ data }) => data['message'] === 'An order already exists with this order reference',
        );
        expect(exists).toHaveLength(requests.length - names.size);
        expect(Object.values(merchant.service.stats().chargesByReference).every((times) => times === 1)).toBe(
          true,
        );
      }),
      { numRuns: 40 },
    );
  });

  it('is charged once even by many simultaneous OTPs', async () => {
    const merchant = await startMerchant();
    const { transactionId } = (await merchant.chargeCard(requiresOtp, 'P-otp')).data;
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => merchant.submitOtp('P-otp', transactionId, '123456')),
    );
    expect(answers.filter(({ data }) => data['status'] === true)).toHaveLength(1);
    expect(merchant.service.stats().chargesByReference).toEqual({ 'P-otp': 1 });
  });
});

describe('in the sandbox', () => {
  const path = '/sandbox/checkout';
  const order = { amount: '5000.01', currency: 'NGN', customerEmail: 'any@example.com' };

  it.each([
    ['S-1', '00', 'SUCCESS'],
    ['1234567890', '404', undefined],
  ])('a charge of %s with any token is answered with code %s', async (orderReference, code, status) => {
    const merchant = await startMerchant();
    for (const tokenKey of ['any', requiresOtp.tokenKey]) {
      const body = { tokenKey, order: { ...order, orderReference } };
      const reply = await merchant.call('POST', `${path}/tokenized-card-payment`, { body });
      const isApproved = code === '00';
      expect(reply.body).toMatchObject({ code, data: { status: isApproved, otpRequired: false } });
    }
    expect((await merchant.lookUp(orderReference)).data['status']).toBe(status);
  });

  it.each([
    ['9999', true, /approved by financial institution/i],
    ['1234', false, /exceeded the time allowed/],
    ['5464', false, /^Invalid OTP$/],
  ])('the code %s of any charge is answered as the specification says', async (otp, status, message) => {
    const merchant = await startMerchant();
    const body = { otp, orderReference: 'any', transactionId: 'any' };
    const { data } = await merchant.callBare('POST', `${path}/checkout-card-otp`, { body });
    expect(data).toEqual({ status, message: expect.stringMatching(message) });
  });
});
