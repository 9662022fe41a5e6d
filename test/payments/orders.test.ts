import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { type CheckoutOrder, createCheckoutOrder } from '../../src/payments/orders.ts';
import { mockTheOutside } from '../support/mocks.ts';
import {
  accountId,
  baseUrl,
  cannedClient,
  clientOf,
  envelope,
  orderPath,
  reference,
  secrets,
} from './charging.ts';

mockTheOutside();

const wanted: CheckoutOrder = {
  money: { minor: 10_000, currency: 'NGN' },
  customerEmail: 'eniola@example.com',
  reference,
  savesCard: true,
};

const created = {
  success: true,
  message: 'Order created',
  checkoutLink: 'https://pay.test/checkout/S-1',
  orderReference: 'S-1',
};

function orderAnswered(body: unknown, httpStatus = 200) {
  return createCheckoutOrder(cannedClient(body, httpStatus), accountId, wanted);
}

describe('createCheckoutOrder', () => {
  it('requests a card payment, with tokenizeCard beside the order, not inside', async () => {
    const reqheaders = { authorization: `Bearer ${secrets.accessToken}`, accountid: accountId };
    const order = {
      amount: '100.00',
      currency: 'NGN',
      customerEmail: 'eniola@example.com',
      orderReference: reference,
      allowedPaymentMethods: ['Card'],
    };
    const answer = { kind: 'created', orderId: 'S-1', checkoutLink: created.checkoutLink };
    nock(baseUrl, { reqheaders })
      .post(orderPath, { order, tokenizeCard: true })
      .reply(200, envelope('00', created));
    expect(await createCheckoutOrder(clientOf(), accountId, wanted)).toEqual(answer);
    const more = { customerId: 'CUST-1', callbackUrl: 'https://shop.test/thanks' };
    nock(baseUrl, { reqheaders })
      .post(orderPath, { order: { ...order, ...more }, tokenizeCard: true })
      .reply(200, envelope('00', created));
    expect(await createCheckoutOrder(clientOf(), accountId, { ...wanted, ...more })).toEqual(answer);
  });

  it('requests neither a card nor a token if the card is not to be saved', async () => {
    const order = {
      amount: '100.00',
      currency: 'NGN',
      customerEmail: 'eniola@example.com',
      orderReference: reference,
    };
    nock(baseUrl).post(orderPath, { order }).reply(200, envelope('00', created));
    const answer = await createCheckoutOrder(clientOf(), accountId, { ...wanted, savesCard: false });
    expect(answer).toMatchObject({ kind: 'created' });
  });

  it.each([
    ['a string for the boolean and a list of one', envelope('00', [{ ...created, success: 'true' }])],
    ['a number for the order id', envelope('00', { ...created, orderReference: 17 })],
  ])('reads %s', async (_what, body) => {
    expect(await orderAnswered(body)).toMatchObject({ kind: 'created' });
  });

  it.each([
    ['success missing', envelope('00', { ...created, success: undefined })],
    ['success false', envelope('00', { ...created, success: false })],
    ['no link', envelope('00', { ...created, checkoutLink: '' })],
    ['a link that is no web address', envelope('00', { ...created, checkoutLink: 'javascript:alert(1)' })],
    ['no order id', envelope('00', { ...created, orderReference: null })],
    ['another code', envelope('99', created)],
    ['another code and a link alone', envelope('99', { ...created, success: undefined })],
    ['code "400" and created', envelope('400', created)],
    ['no code, only a good description', { description: 'Success', status: true, data: created }],
    ['no data', envelope('00', null)],
  ])('leaves in doubt: %s', async (_what, body) => {
    expect(await orderAnswered(body)).toMatchObject({ kind: 'unknown', cause: { kind: 'malformed' } });
  });

  it('was not made if a record of the request does not exist, with the service’s words', async () => {
    const body = { code: '404', description: 'The account does not exist' };
    expect(await orderAnswered(body, 404)).toEqual({
      kind: 'not_made',
      failure: 'invalid_request',
      message: body.description,
    });
  });

  it('is in doubt if it says created under HTTP 400 or 500', async () => {
    expect(await orderAnswered(envelope('00', created), 400)).toMatchObject({ kind: 'unknown' });
    expect(await orderAnswered(envelope('00', created), 500)).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    ['"400" without data', envelope('400', null), 'Success'],
    ['"400" with a charge’s data', envelope('400', { status: false, message: 'Too small' }), 'Too small'],
    ['"400" with empty data', { code: '400', description: 'Too small', data: {} }, 'Too small'],
    ['that the specification lacks', { code: '99', description: 'Suspended', data: null }, 'Suspended'],
  ])('is rejected by a code %s', async (_what, body, message) => {
    expect(await orderAnswered(body)).toEqual({ kind: 'rejected', reason: 'other', message });
  });

  it('recognises a used reference however it is refused, and a failed validation with its words', async () => {
    const message = 'An order already exists with this order reference';
    const rejected = { kind: 'rejected', reason: 'reference_exists', message };
    expect(await orderAnswered(envelope('400', { success: false, message }))).toEqual(rejected);
    expect(await orderAnswered({ code: '400', description: message }, 400)).toEqual(rejected);
    expect(await orderAnswered({ code: '400', description: 'amount: is missing' }, 400)).toEqual({
      kind: 'not_made',
      failure: 'invalid_request',
      message: 'amount: is missing',
    });
  });
});
