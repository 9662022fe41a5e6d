import { describe, expect, it } from 'vitest';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { operations } from '../../contract/document.ts';
import {
  checkAnswer,
  checkEvent,
  eventsOf,
  issueToken,
  startMerchant,
  startReceiver,
  type CallOptions,
  type Data,
} from './merchant.ts';

const customer = { amount: '5000.00', currency: 'NGN', customerEmail: 'eniola@example.com' };
const { approves, requiresOtp } = seedCards;
const emails = { currentEmailAddress: approves.customerEmail, newEmailAddress: 'new@example.com' };
const charge = { ...customer, customerEmail: requiresOtp.customerEmail, orderReference: 'ALL-1' };

/** A valid call of every operation, ordered so that each finds what it needs. */
async function callEverything(): Promise<{ statuses: Map<string, number>; events: string[] }> {
  const merchant = await startMerchant();
  const receiver = await startReceiver(merchant);
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
  return { statuses, events: (await eventsOf(merchant, receiver)).map(({ event }) => event) };
}

describe('every operation of openapi/payments.yaml', () => {
  it('is served, if a merchant’s system calls it, and answers a valid call with 200 as documented', async () => {
    const { statuses, events } = await callEverything();
    // The customer types card details into the checkout page.
    const called = operations
      .filter(({ path, webhook }) => !webhook && !path.endsWith('/checkout-card-detail'))
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...statuses.keys()].toSorted()).toEqual(called.toSorted());
    expect([...statuses].filter(([, status]) => status !== 200)).toEqual([]);
    expect(events).toEqual(['payment_success']);
  });
});

describe('the check of answers', () => {
  const lookUp = 'GET /v1/transactions/accounts/single';
  const headers = new Headers();
  it('refuses an undeclared status, a broken record, a missing header and a broken event', () => {
    const broken = { code: '00', description: '', data: { amount: '12.5' } };
    expect(() => checkAnswer(lookUp, { headers, status: 418, body: {} })).toThrow('not declared');
    expect(() => checkAnswer(lookUp, { headers, status: 200, body: broken })).toThrow('breaks openapi');
    expect(() => checkAnswer('GET /v1/accounts', { headers, status: 200, body: { results: [] } })).toThrow(
      'X-Rate-Limit-Limit',
    );
    const event = { data: { order: { isTokenizedCardPayment: true } } };
    expect(() => checkEvent('payment_failed', event)).toThrow('breaks openapi');
  });
});
