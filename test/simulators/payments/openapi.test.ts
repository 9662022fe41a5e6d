import { describe, expect, it } from 'vitest';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { issueToken, openapi, startMerchant, type CallOptions, type Data } from './merchant.ts';

const customer = { amount: '5000.00', currency: 'NGN', customerEmail: 'eniola@example.com' };
const { approves, requiresOtp } = seedCards;
const emails = { currentEmailAddress: approves.customerEmail, newEmailAddress: 'new@example.com' };
const charge = { ...customer, customerEmail: requiresOtp.customerEmail, orderReference: 'ALL-1' };

/** A good call of every operation, in an order in which each finds what it needs. */
async function callEverything(): Promise<Map<string, number>> {
  const merchant = await startMerchant();
  const statuses = new Map<string, number>();
  async function call(operation: string, options: CallOptions = {}): Promise<Data> {
    const [method = '', path = ''] = operation.split(' ');
    const reply = await merchant.call(method, path, options);
    statuses.set(operation, reply.status);
    return reply.data;
  }
  const issued = (await issueToken(merchant)).data;
  statuses.set('POST /v1/auth/token/issue', 200);
  merchant.token = issued['accessToken'] as string;
  const body = { refreshToken: issued['refreshToken'] };
  merchant.token = (await call('POST /v1/auth/token/refresh', { body }))['accessToken'] as string;
  const account = await call('POST /v1/accounts', { body: { accountName: 'Ibadan' } });
  await call('GET /v1/accounts');
  const query = { accountId: account['accountId'] as string };
  await call('GET /v1/accounts/sub-account-details', { query });
  await call('GET /v1/accounts/terminals');
  for (const prefix of ['/v1', '/sandbox']) {
    await call(`POST ${prefix}/checkout/order`, { body: { order: customer, tokenizeCard: true } });
    const cards = `${prefix}/checkout/tokenized-card-data`;
    await call(`GET ${cards}`, { query: { customerEmail: approves.customerEmail } });
    await call(`POST ${cards}`, { body: { tokenKey: approves.tokenKey, ...emails } });
    await call(`DELETE ${cards}`, { body: { tokenKey: approves.tokenKey } });
    const chargeBody = { tokenKey: requiresOtp.tokenKey, order: charge };
    const charged = await call(`POST ${prefix}/checkout/tokenized-card-payment`, { body: chargeBody });
    const transactionId = charged['transactionId'] ?? 'any';
    if (prefix === '/v1')
      await call('POST /v1/checkout/resend-otp', { body: { orderReference: transactionId } });
    const otp = { otp: '123456', orderReference: 'ALL-1', transactionId };
    await call(`POST ${prefix}/checkout/checkout-card-otp`, { body: otp });
  }
  await call('GET /v1/transactions/accounts/single', { query: { orderReference: 'ALL-1' } });
  await call('POST /v1/auth/token/revoke', { body: { accessToken: merchant.token } });
  return statuses;
}

describe('every operation of openapi/payments.yaml', () => {
  it('is served, where a merchant’s system calls it, and a good call is answered 200 as the document says', async () => {
    const statuses = await callEverything();
    // Card details are typed into the customer's page.
    const called = openapi.operations.filter((operation) => !operation.endsWith('/checkout-card-detail'));
    expect([...statuses.keys()].toSorted()).toEqual(called.toSorted());
    expect([...statuses].filter(([, status]) => status !== 200)).toEqual([]);
  });
});

describe('the check of answers', () => {
  const headers = new Headers();
  const path = '/v1/transactions/accounts/single';
  it('refuses an undeclared status, a broken record, a missing header and a broken event', () => {
    const answer = { method: 'GET', path, headers };
    const broken = { code: '00', description: '', data: { amount: '12.5' } };
    expect(() => openapi.check({ ...answer, status: 418, body: {} })).toThrow('not declared');
    expect(() => openapi.check({ ...answer, status: 200, body: broken })).toThrow('breaks openapi');
    expect(() =>
      openapi.check({ ...answer, path: '/v1/accounts', status: 200, body: { results: [] } }),
    ).toThrow('X-Rate-Limit-Limit');
    const event = { data: { order: { isTokenizedCardPayment: true } } };
    expect(() => openapi.checkEvent('payment_failed', event)).toThrow('breaks openapi');
  });
});
