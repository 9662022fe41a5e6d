import { describe, expect, it } from 'vitest';
import { testCardNumbers } from '../../../src/simulators/payments/bank.ts';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { issueToken, merchantHeaders, startMerchant, startReceiver } from './merchant.ts';

describe('the exchange log', () => {
  it('holds no secret: tokens, credentials, OTP, token key, transaction id, card details', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    const issued = await issueToken(merchant);
    merchant.token = issued.data['accessToken'] as string;
    const { tokenKey, customerEmail } = seedCards.requiresOtp;
    const order = { amount: '5000.00', currency: 'NGN', customerEmail, orderReference: 'X-2' };
    const transactionId = (await merchant.charge(order, tokenKey)).data['transactionId'] as string;
    await merchant.callBare('POST', '/v1/checkout/resend-otp', { body: { orderReference: transactionId } });
    const otp = { otp: '123456', orderReference: 'X-2', transactionId };
    await merchant.callBare('POST', '/v1/checkout/checkout-card-otp', { body: otp });
    const created = await merchant.call('POST', '/v1/checkout/order', {
      body: { order: { ...order, orderReference: 'X-3' }, tokenizeCard: true },
    });
    const fields = [{ card: 'otp' }, { otp: '123456' }];
    for (const field of fields) {
      const link = created.data['checkoutLink'] as string;
      await fetch(link, { method: 'POST', body: new URLSearchParams(field) });
    }
    await fetch(`${merchant.service.url}/sandbox/checkout/tokenized-card-data?tokenKey=${tokenKey}`, {
      method: 'DELETE',
      headers: merchantHeaders(merchant),
    });
    await merchant.service.settled();
    const saved = receiver.received.map(
      ({ payload }) => payload['tokenizedCardData'] as { tokenKey: string } | undefined,
    );
    const savedTokenKey = saved.find((card) => card)?.tokenKey;
    const secrets = [
      merchant.token,
      issued.data['refreshToken'] as string,
      merchant.service.credentials.clientSecret,
      merchant.service.credentials.webhookSecret,
      tokenKey,
      savedTokenKey,
      transactionId,
      '123456',
      testCardNumbers.otp,
    ];
    const log = JSON.stringify(merchant.exchanges);
    expect(secrets.filter((secret) => secret === undefined || log.includes(secret))).toEqual([]);
    expect(
      merchant.exchanges.every(
        ({ request, response }) => (request ?? '').length <= 2_000 && (response ?? '').length <= 2_000,
      ),
    ).toBe(true);
  });
});
