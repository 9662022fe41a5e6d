import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '../support/counts.ts';
import { charges, reviews, shareDesk } from '../support/desk.ts';

// How a charge ends if its record says more, less or something else than its answer.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

type Told = Record<string, string> & { status: string; amount: string };

/** How the service reports its records in this story. */
let tells: (record: Told) => Told | readonly Told[] = (record) => record;

const at = shareDesk({
  clock: true,
  env: { CHARGE_TWIN_MINUTES: '0', PAYMENTS_FINAL_STATUSES: 'FAILED' },
  payments: { knownCards: true, tellTransaction: (record) => tells(record) },
});

beforeAll(() => at().settled());
beforeEach(() => {
  tells = (record) => record;
  at().house.later(dayMs + minuteMs);
});

const [ada, chidi] = ['4081', '6640'];
const lookUps = { operation: 'GET /v1/transactions/accounts/single' } as const;

describe('a decline without words', () => {
  it('quotes its record’s, and never says that the bank gave no reason', async () => {
    const desk = at();
    tells = (record) => ({ ...record, gatewayMessage: 'Do not honour' });
    await desk.house.payments.act({ kind: 'set_next_charge', next: 'decline', reason: '' });
    await charges(desk, 'agent', { card: ada, amount: '1100.00' });
    const { shown } = await desk.modalSays('agent', ['❌ Declined by the bank', 'Do not honour']);
    expect(shown.text).toContain('Gateway:');
    expect(shown.text).toContain('another card');
    expect(shown.text).not.toContain('gave no reason');
  });

  it('takes them from its event if its record has none, for window, message and card', async () => {
    const desk = at();
    const { house } = desk;
    house.payments.sendWebhooksTo(undefined);
    await house.payments.act({ kind: 'set_next_charge', next: 'decline', reason: '' });
    const orderReference = await charges(desk, 'agent', { card: chidi, amount: '1150.00' });
    await desk.modalSays('agent', ['❌ Declined by the bank', 'The bank gave no reason']);
    const transaction = { gatewayMessage: '3D Secure authentication required' };
    await house.sendEvent({ event: 'payment_failed', data: { order: { orderReference }, transaction } });
    const { shown } = await desk.modalSays('agent', 'The bank says: 3D Secure authentication required');
    expect(shown.text).not.toContain('gave no reason');
    expect(shown.text).toContain('send a payment link');
    await desk.sees('agent', ['❌ Declined by the bank', '3D Secure authentication required'], 'payDesk');
    await desk.closes('agent');
    const review = await reviews(desk, 'agent', { card: chidi, amount: '1151.00' });
    expect(review.submit).toBeUndefined();
    await desk.closes('agent');
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  });

  it('is no decline if its record proves the payment', async () => {
    const desk = at();
    const { house } = desk;
    house.payments.sendWebhooksTo(undefined);
    tells = (record) => ({ ...record, status: 'SUCCESS' });
    await house.payments.act({ kind: 'set_next_charge', next: 'decline', reason: '' });
    const reference = await charges(desk, 'agent', { card: ada, amount: '1175.00' });
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  });
});

describe('the record of another order', () => {
  it('lends the charge no reason and no hold, and the look-up no amount and customer', async () => {
    const desk = at();
    const { house } = desk;
    house.payments.sendWebhooksTo(undefined);
    tells = (record) => ({
      ...record,
      amount: '99.00',
      gatewayMessage: 'Lost card',
      onlineCheckoutOrderReference: 'ANOTHER-1',
      onlineCheckoutCustomerEmail: 'bob@other.example',
    });
    await house.payments.act({ kind: 'set_next_charge', next: 'decline', reason: '' });
    const reference = await charges(desk, 'agent', { card: ada, amount: '1180.00' });
    const { shown } = await desk.modalSays('agent', ['❌ Declined by the bank', 'The bank gave no reason']);
    expect(shown.text).not.toContain('Lost card');
    const looked = await desk.asks('agent', `/pay ${reference}`, 'ANOTHER-1');
    expect(looked.text).toBe(`❌ Declined by the bank · amount unknown · ${reference}`);
    expect(looked.shown.text).not.toContain('Lost card');
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  });
});

describe('a reference with two records', () => {
  it('that differ is neither paid nor unpaid: both are shown, and the charge waits', async () => {
    const desk = at();
    tells = (record) => [record, { ...record, status: 'FAILED' }];
    const reference = await charges(desk, 'agent', { card: ada, amount: '1200.00' });
    await desk.modalSays('agent', ['Approved, confirming', reference]);
    const looked = await desk.asks('agent', `/pay ${reference}`, 'Not confirmed');
    expect(looked.shown.text).toContain('2 records of this reference differ');
    expect(looked.shown.text).toContain('SUCCESS NGN 1,200.00 CREDIT; FAILED NGN 1,200.00 CREDIT');
    tells = (record) => [record, record];
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
  });

  it('is no payment if its record is a debit', async () => {
    const desk = at();
    tells = (record) => ({ ...record, entryType: 'DEBIT' });
    const reference = await charges(desk, 'agent', { card: ada, amount: '1300.00' });
    await desk.modalSays('agent', ['Approved, confirming', reference]);
    const looked = await desk.asks('agent', `/pay ${reference}`, 'Not confirmed');
    expect(looked.shown.text).toContain('The record is a DEBIT, which is no payment');
    tells = (record) => record;
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
  });
});

describe('a service without an answer for more than a day', () => {
  it('leaves the charge in doubt, and proves it with the first answer', async () => {
    const desk = at();
    const { house } = desk;
    await house.payments.act({ kind: 'set_next_charge', next: 'lost_answer' });
    house.payments.sendWebhooksTo(undefined);
    house.payments.setFaults({ kind: 'error_500', ...lookUps });
    const reference = await charges(desk, 'agent', { card: ada, amount: '1400.00' });
    await desk.modalSays('agent', ['In doubt, checking', reference]);
    for (let hour = 0; hour < 26; hour += 1) house.later(hourMs);
    const doubt = await desk.asks('lead', '/pay doubt', reference);
    expect(doubt.shown.text).not.toContain('Needs review');
    house.payments.setFaults();
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  });
});

itInFull(
  'a service that answers for a day without proof leaves the charge for a person to review, and a later proof corrects it',
  { timeout: 600_000 },
  async () => {
    const desk = at();
    const { house } = desk;
    const looked = (): number => house.payments.stats().calls[lookUps.operation] ?? 0;
    house.payments.sendWebhooksTo(undefined);
    tells = (record) => ({ ...record, status: 'PROCESSING' });
    const reference = await charges(desk, 'agent', { card: ada, amount: '1500.00' });
    await desk.modalSays('agent', ['Approved, confirming', reference]);
    const isReviewed = (): boolean => desk.modal('agent')?.shown.text.includes('Needs review') === true;
    // Time passes between an answer and the next look-up, but never between a request and its answer.
    async function isAnswered(before: number): Promise<boolean> {
      const soon = await house.due(house.now() + minuteMs);
      return looked() > before && soon.every(({ key }) => key !== `charge:${reference}`);
    }
    let answers = 0;
    for (; !isReviewed(); answers += 1) {
      const before = looked();
      house.later(10 * minuteMs);
      await house.until('it is looked up', async () => isReviewed() || (await isAnswered(before)));
    }
    expect(answers).toBeGreaterThan(140);
    await desk.modalSays('agent', ['Needs review', reference]);
    await desk.sees('agent', ['Needs review', 'No proof of the charge within 24 hours'], 'payDesk');
    tells = (record) => record;
    house.later(25 * hourMs);
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  },
);

describe('a code whose answer is lost', () => {
  const codes = { operation: 'POST /v1/checkout/checkout-card-otp' } as const;

  async function losesAnswer(amount: string) {
    const desk = at();
    const { house } = desk;
    house.payments.sendWebhooksTo(undefined);
    const reference = await charges(desk, 'agent', { card: '1127', amount });
    await desk.modalSays('agent', 'Code from the bank');
    tells = (record) => ({ ...record, status: 'PROCESSING' });
    house.payments.setFaults({ kind: 'answer_lost', ...codes, times: 1 });
    await desk.submits('agent', { 'Code from the bank': '123456' });
    await desk.modalSays('agent', ['got no answer', 'Code from the bank']);
    tells = (record) => record;
    return { desk, house, reference };
  }

  it('and whose money moves seconds later without an event is found paid beside the open form', async () => {
    const { desk, house, reference } = await losesAnswer('1600.00');
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  });

  it('is never called wrong when typed again: the charge is looked up first, and is paid', async () => {
    const { desk, house, reference } = await losesAnswer('1700.00');
    const after = await desk.submits('agent', { 'Code from the bank': '123456' });
    expect(after?.shown.text).not.toMatch(/wrong/i);
    const paid = await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    expect(paid.shown.text).not.toMatch(/wrong/i);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  });
});
