import { expect, it } from 'vitest';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { issueToken, startMerchant, type CallOptions } from './merchant.ts';

const { approves } = seedCards;
const order = { amount: '5000.00', currency: 'NGN', customerEmail: approves.customerEmail };
const emails = { currentEmailAddress: 'x@example.com', newEmailAddress: 'y@example.com' };
const foreign = { accountId: '0b7e4c19-3a52-4d8f-9c61-5e2f7a08d3b4' };
const clientId = 'playground-client';
const long = 'x'.repeat(51);
const [issue, create] = ['POST /v1/auth/token/issue', 'POST /v1/accounts'];
const [checkout, card] = ['POST /v1/checkout/order', 'POST /v1/checkout/tokenized-card-data'];
const charge = 'POST /v1/checkout/tokenized-card-payment';
const good = { tokenKey: approves.tokenKey, order };

type Refused = [status: number, operation: string, what: string, options: CallOptions];

it.each<Refused>([
  ...['/v1/accounts', '/v1/accounts/terminals'].flatMap((path) =>
    [{ limit: '51' }, { limit: '0' }, { limit: 'many' }, { cursor: 'made-up' }].map((query): Refused => [
      400,
      `GET ${path}`,
      JSON.stringify(query),
      { query },
    ]),
  ),
  [400, create, 'a used reference', { body: { accountName: 'Ibadan', accountRef: 'OWN-CARD-ACCOUNT-001' } }],
  [400, create, 'a short reference', { body: { accountName: 'Ibadan', accountRef: 'short' } }],
  [400, create, 'a short name', { body: { accountName: 'I' } }],
  [400, create, 'a short BVN', { body: { accountName: 'Ibadan', bvn: '123' } }],
  [400, create, 'another currency', { body: { accountName: 'Ibadan', currency: 'USD' } }],
  [401, issue, 'a wrong secret', { body: { clientId, clientSecret: 'guess' } }],
  [403, issue, 'a foreign account', { body: { clientId, clientSecret: 'guess' }, headers: foreign }],
  [403, issue, 'no account', { body: { clientId, clientSecret: 'guess' }, headers: { accountId: '' } }],
  [400, issue, 'no secret', { body: { clientId } }],
  [404, card, 'an unknown card', { body: { tokenKey: 'tok-nobody', ...emails } }],
  [400, card, 'no card', { body: emails }],
  [401, card, 'no access token', { body: emails, headers: { authorization: '' } }],
  [400, checkout, 'a used reference', { body: { order: { ...order, orderReference: 'ORDER-1001' } } }],
  [400, checkout, 'a reference of 51 characters', { body: { order: { ...order, orderReference: long } } }],
  [400, checkout, 'one decimal', { body: { order: { ...order, amount: '100.0' } } }],
  [400, checkout, 'a number for an amount', { body: { order: { ...order, amount: 100 } } }],
  [400, checkout, 'no e-mail', { body: { order: { ...order, customerEmail: undefined } } }],
  [400, charge, 'no token key', { body: { order } }],
  [
    400,
    charge,
    'a reference of 51 characters',
    { body: { ...good, order: { ...order, orderReference: long } } },
  ],
  [400, charge, 'a whole-number amount', { body: { ...good, order: { ...order, amount: '5000' } } }],
  [401, charge, 'no access token', { body: good, headers: { authorization: '' } }],
  [403, charge, 'no account', { body: good, headers: { accountId: '' } }],
  [403, charge, 'an account that is none', { body: good, headers: { accountId: 'not-a-uuid' } }],
])('the service answers %i to %s with %s', async (status, operation, _what, options) => {
  const merchant = await startMerchant();
  const [method = '', path = ''] = operation.split(' ');
  expect((await merchant.call(method, path, options)).status).toBe(status);
  expect(merchant.service.stats().chargesByReference).toEqual({});
});

it('a new access token revokes the one before it', async () => {
  const merchant = await startMerchant();
  const newer = (await issueToken(merchant)).data['accessToken'] as string;
  expect((await merchant.call('GET', '/v1/accounts')).status).toBe(401);
  merchant.token = newer;
  expect((await merchant.call('GET', '/v1/accounts')).status).toBe(200);
});

it('a card keeps its e-mail if the current one given is not the linked one', async () => {
  const merchant = await startMerchant();
  const body = { tokenKey: approves.tokenKey, ...emails };
  const reply = await merchant.call('POST', '/v1/checkout/tokenized-card-data', { body });
  expect([reply.body['code'], reply.data['status']]).toEqual(['00', false]);
  expect(reply.data).not.toHaveProperty('tokenizedCardData');
  expect(merchant.service.state().cards[0]?.customerEmail).toBe(approves.customerEmail);
});
