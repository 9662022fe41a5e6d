import { describe, expect, it } from 'vitest';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { merchantHeaders, startMerchant, type Data, type Merchant, type Reply } from './merchant.ts';

const { approves, requiresOtp } = seedCards;

function order(card: { customerEmail: string }, orderReference: string, amount: string): Data {
  return { amount, currency: 'NGN', customerEmail: card.customerEmail, orderReference };
}

function charge(
  merchant: Merchant,
  card: { customerEmail: string; tokenKey: string },
  reference: string,
  amount = '5000.00',
): Promise<Reply> {
  return merchant.charge(order(card, reference, amount), card.tokenKey);
}

/** Without reading the answer, and with little patience. */
function chargeFor(merchant: Merchant, reference: string, amount: string): Promise<Response> {
  return fetch(`${merchant.service.url}/v1/checkout/tokenized-card-payment`, {
    method: 'POST',
    headers: {
      ...merchantHeaders(merchant),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ tokenKey: approves.tokenKey, order: order(approves, reference, amount) }),
    signal: AbortSignal.timeout(150),
  });
}

describe('an accident', () => {
  it.each([
    ['hang', '5000.05', 'timeout'],
    ['reset', '5000.08', 'fetch failed'],
  ])(
    '%s before charging leaves nothing, and the same reference works the next time',
    async (_how, amount, problem) => {
      const merchant = await startMerchant();
      await expect(chargeFor(merchant, 'A-1', amount)).rejects.toThrow(problem);
      expect((await merchant.lookUp('A-1')).body['code']).toBe('01');
      const again = await charge(merchant, approves, 'A-1', amount);
      expect(again.data['status']).toBe(true);
    },
  );

  it.each([
    ['hang', '5000.06', 'timeout'],
    ['reset', '5000.09', 'fetch failed'],
  ])('%s after charging leaves a charge, and a retry already exists', async (_how, amount, problem) => {
    const merchant = await startMerchant();
    await expect(chargeFor(merchant, 'A-2', amount)).rejects.toThrow(problem);
    expect((await merchant.lookUp('A-2')).data['status']).toBe('SUCCESS');
    const again = await charge(merchant, approves, 'A-2', amount);
    expect(again.data['message']).toBe('An order already exists with this order reference');
    expect(merchant.service.stats().chargesByReference).toEqual({ 'A-2': 1 });
  });

  it('500 comes before or after charging, as the amount says', async () => {
    const merchant = await startMerchant();
    expect((await charge(merchant, approves, 'A-3', '5000.10')).status).toBe(500);
    expect((await charge(merchant, approves, 'A-4', '5000.07')).status).toBe(500);
    expect(merchant.service.stats().chargesByReference).toEqual({ 'A-4': 1 });
  });

  it('an unreadable answer comes after charging', async () => {
    const merchant = await startMerchant();
    const response = await chargeFor(merchant, 'A-5', '5000.11');
    await expect(response.json()).rejects.toThrow('JSON');
    expect(merchant.service.stats().chargesByReference).toEqual({ 'A-5': 1 });
  });

  it('the bank takes less than was asked', async () => {
    const merchant = await startMerchant();
    await charge(merchant, approves, 'A-6', '5000.12');
    const found = (await merchant.lookUp('A-6')).data;
    expect(found).toMatchObject({ status: 'SUCCESS', amount: '4999.12', onlineCheckoutAmount: '5000.12' });
  });

  it('the record of an approved charge is late by two look-ups', async () => {
    const merchant = await startMerchant();
    await charge(merchant, approves, 'A-7', '5000.13');
    const statuses: unknown[] = [];
    for (let time = 0; time < 3; time += 1) statuses.push((await merchant.lookUp('A-7')).data['status']);
    expect(statuses).toEqual(['PENDING', 'PENDING', 'SUCCESS']);
  });

  it('an accepted OTP is never answered', async () => {
    const merchant = await startMerchant();
    const { transactionId } = (await charge(merchant, requiresOtp, 'A-8')).data;
    const hanging = fetch(`${merchant.service.url}/v1/checkout/checkout-card-otp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ otp: '111111', orderReference: 'A-8', transactionId }),
      signal: AbortSignal.timeout(150),
    });
    await expect(hanging).rejects.toThrow('timeout');
    expect((await merchant.lookUp('A-8')).data['status']).toBe('SUCCESS');
  });
});
