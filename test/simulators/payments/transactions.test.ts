import { describe, expect, it } from 'vitest';
import { startMerchant } from './merchant.ts';

describe('transaction look-up', () => {
  it.each([
    [
      'ORDER-1001',
      { status: 'SUCCESS', amount: '12500.00', onlineCheckoutAmount: '12500.00', currency: 'NGN' },
    ],
    ['ORDER-1002', { status: 'PENDING', amount: '8400.00' }],
    ['ORDER-1003', { status: 'SUCCESS', amount: '14000.00', onlineCheckoutAmount: '15000.00' }],
    ['ORDER-1004', { status: 'SUCCESS', amount: '3250.50' }],
    ['SUB-2040', { status: 'SUCCESS', amount: '5000.00' }],
    ['SUB-2041', { status: 'FAILED', gatewayMessage: 'Insufficient funds' }],
  ])('tells the seeded %s', async (reference, expected) => {
    const merchant = await startMerchant();
    const { body, data } = await merchant.lookUp(reference);
    expect(body['code']).toBe('00');
    expect(data).toMatchObject({ ...expected, onlineCheckoutOrderReference: reference });
  });

  it('answers an unknown reference with HTTP 200, code "01" and null', async () => {
    const merchant = await startMerchant();
    const { status, body } = await merchant.lookUp('ORDER-9999');
    expect([status, body['code'], body['data']]).toEqual([200, '01', null]);
    expect(merchant.service.stats()).toMatchObject({ lookups: 1, lookupsByReference: { 'ORDER-9999': 1 } });
  });

  it('needs token, account and reference', async () => {
    const merchant = await startMerchant();
    const path = '/v1/transactions/accounts/single';
    const query = { orderReference: 'ORDER-1001' };
    expect((await merchant.callBare('GET', path, { query })).status).toBe(401);
    const authorization = `Bearer ${merchant.token}`;
    expect((await merchant.callBare('GET', path, { query, headers: { authorization } })).status).toBe(403);
    expect((await merchant.call('GET', path)).status).toBe(400);
  });
});
