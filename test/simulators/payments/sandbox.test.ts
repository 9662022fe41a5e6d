import { describe, expect, it } from 'vitest';
import { testCardNumbers } from '../../../src/simulators/payments/bank.ts';
import { sandboxInputs } from '../../../src/simulators/payments/sandbox.ts';
import { cardBody, eventsOf, startMerchant, startReceiver, type Data } from './merchant.ts';

const customer = { amount: '100.00', currency: 'NGN', customerEmail: 'eniola@example.com' };
const cards = '/sandbox/checkout/tokenized-card-data';

describe('sandbox charge', () => {
  it('approves any token key and reference, once charged and once told, and is found under /v1/', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    const body = { tokenKey: 'anything', order: { ...customer, orderReference: 'S-1' } };
    for (let time = 0; time < 2; time += 1) {
      const { data } = await merchant.call('POST', '/sandbox/checkout/tokenized-card-payment', { body });
      expect(data).toMatchObject({ status: true, otpRequired: false, orderReference: 'S-1' });
    }
    expect(merchant.service.stats().chargesByReference).toEqual({ 'S-1': 1 });
    expect((await merchant.lookUp('S-1')).data['status']).toBe('SUCCESS');
    expect(await eventsOf(merchant, receiver)).toHaveLength(1);
  });

  it('answers code "404" for 1234567890', async () => {
    const merchant = await startMerchant();
    const body = { tokenKey: 'anything', order: { ...customer, orderReference: '1234567890' } };
    const reply = await merchant.call('POST', '/sandbox/checkout/tokenized-card-payment', { body });
    expect(reply.body).toMatchObject({ code: '404', description: 'Record not found' });
  });
});

describe('sandbox OTP', () => {
  it.each([
    ['9999', true, 'Approved by Financial Institution'],
    ['1234', false, 'The payment has exceeded the time allowed'],
    ['5464', false, 'Invalid OTP'],
  ])('%s gives %s', async (otp, status, message) => {
    const merchant = await startMerchant();
    const body = { otp, orderReference: 'any', transactionId: 'any' };
    const { data } = await merchant.callBare('POST', '/sandbox/checkout/checkout-card-otp', { body });
    expect(data).toEqual({ status, message });
  });

  it('has no resend', async () => {
    const merchant = await startMerchant();
    const response = await fetch(`${merchant.service.url}/sandbox/checkout/resend-otp`, { method: 'POST' });
    expect(response.status).toBe(404);
  });
});

describe('sandbox card-saving payment', () => {
  it('sends payment_success without a card', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    const created = await merchant.call('POST', '/sandbox/checkout/order', {
      body: { order: customer, tokenizeCard: true },
    });
    const orderReference = created.data['orderReference'];
    const card = await merchant.callBare('POST', '/sandbox/checkout/checkout-card-detail', {
      body: cardBody(orderReference, testCardNumbers.otp),
    });
    expect(card.data['responseCode']).toBe('T0');
    const body = { otp: '9999', orderReference, transactionId: card.data['transactionId'] };
    await merchant.callBare('POST', '/sandbox/checkout/checkout-card-otp', { body });
    const [event, ...more] = await eventsOf(merchant, receiver);
    expect(more).toEqual([]);
    expect(event?.event).toBe('payment_success');
    expect(event).not.toHaveProperty('tokenizedCardData');
    expect(merchant.service.state().cards).toEqual([]);
  });

  it('lets only the card number decide, on any order', async () => {
    const merchant = await startMerchant();
    const submit = async (number: string): Promise<Data> => {
      const body = cardBody('any', number);
      return (await merchant.callBare('POST', '/sandbox/checkout/checkout-card-detail', { body })).data;
    };
    expect((await submit(testCardNumbers.otp))['responseCode']).toBe('T0');
    expect((await submit(testCardNumbers.declined))['status']).toBe(false);
  });
});

describe('sandbox saved cards', () => {
  it('answers 404 for the designated e-mail and token key, a fixed sample otherwise', async () => {
    const merchant = await startMerchant();
    const emails = { currentEmailAddress: 'x@example.com', newEmailAddress: 'y@example.com' };
    const list = (customerEmail: string): Promise<{ status: number }> =>
      merchant.callBare('GET', cards, { query: { customerEmail } });
    const change = (tokenKey: string): Promise<{ status: number }> =>
      merchant.call('POST', cards, { body: { tokenKey, ...emails } });
    const remove = (tokenKey: string): Promise<{ status: number }> =>
      merchant.callBare('DELETE', cards, { query: { tokenKey } });
    const replies = [
      await list(sandboxInputs.emailWithoutCards),
      await list('anyone@example.com'),
      await change('123'),
      await change('124'),
      await remove('123'),
      await remove('124'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([404, 200, 404, 200, 404, 200]);
  });
});
