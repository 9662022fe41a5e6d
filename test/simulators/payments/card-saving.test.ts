import { describe, expect, it } from 'vitest';
import { testCardNumbers } from '../../../src/simulators/payments/bank.ts';
import {
  cardBody,
  eventsOf,
  orderOf,
  startMerchant,
  startReceiver,
  type Data,
  type Merchant,
} from './merchant.ts';

const customer = { amount: '100.00', currency: 'NGN', customerEmail: 'eniola@example.com' };

async function createOrder(merchant: Merchant, extra: Data = {}, tokenizeCard = true): Promise<string> {
  const body = { order: { ...customer, ...extra }, tokenizeCard };
  return (await merchant.call('POST', '/v1/checkout/order', { body })).data['orderReference'] as string;
}

async function submitCard(merchant: Merchant, orderId: string, card: string): Promise<Data> {
  const body = cardBody(orderId, card);
  return (await merchant.callBare('POST', '/v1/checkout/checkout-card-detail', { body })).data;
}

describe('card-saving payment', () => {
  it('goes from order over card and OTP to a saved card and one payment_success with the token', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    const order = { orderReference: 'SAVE-1', customerId: 'CUST-9', allowedPaymentMethods: ['Card'] };
    const orderId = await createOrder(merchant, order);
    expect(orderId).not.toBe('SAVE-1');
    const card = await submitCard(merchant, orderId, testCardNumbers.otp);
    expect(card).toMatchObject({ status: true, responseCode: 'T0', secureAuthenticationData: null });
    expect((await merchant.lookUp('SAVE-1')).data['status']).toBe('PENDING');
    const accepted = await merchant.submitOtp(orderId, card['transactionId'], '123456');
    expect(accepted.data['status']).toBe(true);
    const [event, ...more] = await eventsOf(merchant, receiver);
    expect(more).toEqual([]);
    expect(event?.event).toBe('payment_success');
    expect(orderOf(event)).toMatchObject({
      orderReference: 'SAVE-1',
      orderId,
      customerId: 'CUST-9',
      isTokenizedCardPayment: 'false',
      amount: '100.00',
    });
    const saved = event?.['tokenizedCardData'] as Data;
    expect(saved['customerEmail']).toBe(customer.customerEmail);
    const charged = await merchant.charge(
      { ...customer, orderReference: 'SAVE-1-A' },
      saved['tokenKey'] as string,
    );
    expect(charged.data['status']).toBe(true);
    expect((await merchant.lookUp('SAVE-1')).data['status']).toBe('SUCCESS');
  });

  it('saves no card when tokenizeCard stands inside the order, where it is ignored', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    const orderId = await createOrder(merchant, { tokenizeCard: true }, false);
    const card = await submitCard(merchant, orderId, testCardNumbers.otp);
    await merchant.submitOtp(orderId, card['transactionId'], '123456');
    const [event] = await eventsOf(merchant, receiver);
    expect(event?.event).toBe('payment_success');
    expect(event).not.toHaveProperty('tokenizedCardData');
    expect(merchant.service.state().cards).toEqual([]);
  });

  it('takes three OTPs and refuses the fourth, even the right one', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    const orderId = await createOrder(merchant);
    const { transactionId } = await submitCard(merchant, orderId, testCardNumbers.otp);
    const answers: Data[] = [];
    for (const otp of ['000000', '000000', '000000', '123456', '123456']) {
      answers.push((await merchant.submitOtp(orderId, transactionId, otp)).data);
    }
    const refused = { status: false, message: 'TOO MANY OTP ATTEMPTS' };
    const wrong = { status: false, message: 'Invalid OTP' };
    expect(answers).toEqual([wrong, wrong, wrong, refused, refused]);
    expect(merchant.service.stats().chargesByReference).toEqual({});
    expect(await eventsOf(merchant, receiver)).toEqual([]);
  });

  it('gives 3-D Secure data instead of T0 for such a card', async () => {
    const merchant = await startMerchant({ seed: false });
    const card = await submitCard(merchant, await createOrder(merchant), testCardNumbers.threeDSecure);
    expect(card['responseCode']).not.toBe('T0');
    expect(card['secureAuthenticationData']).toBeTypeOf('object');
  });

  it('declines without an event, and the customer may try another card', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    const orderId = await createOrder(merchant, { orderReference: 'SAVE-2' });
    const card = await submitCard(merchant, orderId, testCardNumbers.declined);
    expect(card).toMatchObject({ status: false, message: 'Insufficient funds' });
    expect((await merchant.lookUp('SAVE-2')).data['status']).toBe('FAILED');
    expect(await eventsOf(merchant, receiver)).toEqual([]);
    expect((await submitCard(merchant, orderId, testCardNumbers.otp))['responseCode']).toBe('T0');
  });

  it('takes no card on an order without the Card method', async () => {
    const merchant = await startMerchant({ seed: false });
    const orderId = await createOrder(merchant, { allowedPaymentMethods: ['Transfer'] });
    const card = await submitCard(merchant, orderId, testCardNumbers.otp);
    expect(card).toMatchObject({
      status: false,
      message: expect.stringContaining('not supported') as string,
    });
  });

  it('knows the payment by the service’s order id alone', async () => {
    const merchant = await startMerchant({ seed: false });
    const orderId = await createOrder(merchant, { orderReference: 'SAVE-3' });
    const { transactionId } = await submitCard(merchant, orderId, testCardNumbers.otp);
    const body = { otp: '123456', orderReference: 'SAVE-3', transactionId };
    expect((await merchant.callBare('POST', '/v1/checkout/checkout-card-otp', { body })).status).toBe(404);
    const card = cardBody('SAVE-3', testCardNumbers.otp);
    const reply = await merchant.callBare('POST', '/v1/checkout/checkout-card-detail', { body: card });
    expect(reply.status).toBe(404);
  });
});

describe('checkout order', () => {
  it.each([
    ['a used reference', { orderReference: 'ORDER-1001' }],
    ['a reference of 51 characters', { orderReference: 'x'.repeat(51) }],
    ['one decimal', { amount: '100.0' }],
    ['a number for an amount', { amount: 100 }],
    ['no e-mail', { customerEmail: undefined }],
  ])('refuses %s with 400', async (_what, extra) => {
    const merchant = await startMerchant();
    const body = { order: { ...customer, ...extra } };
    expect((await merchant.call('POST', '/v1/checkout/order', { body })).status).toBe(400);
  });

  it('makes a reference up when none is given', async () => {
    const merchant = await startMerchant({ seed: false });
    const orderId = await createOrder(merchant);
    const [order] = merchant.service.state().orders;
    expect(order).toMatchObject({ orderId, orderReference: expect.stringMatching(/^ORDER-/) as string });
  });
});
