import { describe, expect, it } from 'vitest';
import { readSignatureScheme } from '../../src/webhooks/webhook-settings.ts';
import { charges, makesLink, shareDesk, type Desk } from '../support/desk.ts';
import type { Channel } from '../support/house.ts';
import { signDelivery } from '../support/sign-delivery.ts';

/** The deadline of each story, from the service's event to the words on the screen. */
const soonMs = 10_000;

const signs = {
  WEBHOOK_SIGNATURE_HEADER: 'x-neighbour-signature',
  WEBHOOK_SIGNATURE_ALGORITHM: 'sha256',
  WEBHOOK_SIGNED_TEMPLATE: '{json:/event}:{json:/data/transaction/transactionId}:{header:x-neighbour-at}',
  WEBHOOK_TIMESTAMP_SOURCE: 'header:x-neighbour-at',
} as const;

/** Another service: it signs three fields, includes its fee in the amount, and has its own status for paid. */
const settings = {
  WEBHOOK_SIGNATURE_PRESET: 'field-concatenation',
  ...signs,
  PAYMENTS_PAID_STATUSES: 'SETTLED',
  PAYMENTS_FINAL_STATUSES: 'FAILED',
  PAYMENTS_FEE_POINTER: '/fee',
};
const fee = '75.00';
/** Orders whose record has another attempt's id. */
const newIds = new Set<string>();

function sign(body: string, secret: string): Record<string, string> {
  const scheme = readSignatureScheme({
    webhookSignaturePreset: 'field-concatenation',
    webhookSignatureHeader: [signs.WEBHOOK_SIGNATURE_HEADER],
    webhookSignatureAlgorithm: signs.WEBHOOK_SIGNATURE_ALGORITHM,
    webhookSignedTemplate: signs.WEBHOOK_SIGNED_TEMPLATE,
    webhookTimestampSource: signs.WEBHOOK_TIMESTAMP_SOURCE,
  });
  if (!scheme.ok || !scheme.value) throw new Error(scheme.ok ? 'none' : scheme.problem);
  return signDelivery(scheme.value, secret, Buffer.from(body), Date.now());
}

/** Resolves with the blocks of the message whose text has these words. */
async function says({ house }: Desk, channel: Channel, words: string): Promise<string> {
  const found = () => house.posts(channel).find(({ text }) => text.includes(words));
  await house.until(`${channel}: ${words}`, () => found() !== undefined, soonMs);
  return JSON.stringify(found()?.blocks);
}

describe('a service with signed fields, other statuses and a fee, configured by settings', () => {
  const at = shareDesk({
    clock: true,
    env: settings,
    payments: {
      sign,
      tellTransaction: (record) => ({
        ...record,
        fee,
        ...(newIds.has(String(record['onlineCheckoutOrderReference'])) ? { id: 'TXN-LATER' } : {}),
        amount: (Number(record.amount) + Number(fee)).toFixed(2),
        status: record.status === 'SUCCESS' ? 'SETTLED' : record.status,
      }),
    },
  });

  it('gets its link paid by its event, and the proof says which amount was compared', async () => {
    const desk = at();
    const { house } = desk;
    const customer = { 'Customer’s e-mail': 'zainab@example.com' };
    const orderReference = await makesLink(desk, 'agent', '150.00', customer);
    await says(desk, 'payDesk', 'Payment link, not paid yet');
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    const proof = await says(desk, 'payDesk', '✅ Paid (confirmed) · NGN 150.00');
    expect(proof).toContain('proven (NGN 225.00 − NGN 75.00 fee)');
  });

  it('gets a charge declined whose answer was lost, by a status that the settings call final', async () => {
    const desk = at();
    const { house } = desk;
    void house.paymentsGate.hold('/tokenized-card-payment', 'after');
    const lost = { token: 'tok-chidi-declines', email: 'chidi.eze@example.com', amount: '5,000.00' };
    await charges(desk, 'agent', lost);
    const hasEvent = () => house.payments.state().deliveries.some(({ event }) => event === 'payment_failed');
    await house.until('its event has left', hasEvent);
    await desk.modalSays('agent', 'Declined');
    await says(desk, 'payAlerts', '❌ Declined by the bank · NGN 5,000.00 · c***@example.com');
    expect(desk.modal('agent')?.shown.text).toContain('Declined by the bank');
  });

  it('gets a charge approved with its own status and the compared amounts as the proof', async () => {
    const desk = at();
    const ada = { token: 'tok-ada-approves', email: 'ada.obi@example.com', amount: '1,000.00' };
    await charges(desk, 'agent', ada);
    const { shown } = await desk.modalSays('agent', 'Paid (confirmed)');
    expect(shown.text).toContain('proven by SETTLED (NGN 1,075.00 − NGN 75.00 fee)');
  });

  it('gets a failure resolved by a payment of its order, and the order stays known', async () => {
    const desk = at();
    const { house } = desk;
    const reference = await house.decline();
    await says(desk, 'payAlerts', `❌ Declined by the bank · NGN 5,000.00 · c***@example.com · ${reference}`);
    const told = await desk.reads('onCall', ['Declined by the bank', reference], 'payAlerts');
    await house.payments.act({ kind: 'pay_order', orderReference: reference, outcome: 'approved' });
    await says(desk, 'payAlerts', `✅ Resolved: paid · NGN 5,000.00 · c***@example.com · ${reference}`);
    // The order's record now has another attempt's id, not the failure's.
    newIds.add(reference);
    const look = () => desk.presses('onCall', 'Look up', told);
    await desk.seesBy('onCall', ['✅ Paid (confirmed)', 'NGN 5,000.00', reference], look);
    const { text } = await desk.reads('onCall', reference, 'payAlerts');
    expect(text).toContain('✅ Resolved: paid · NGN 5,000.00');
    const story = await desk.asks('lead', `/pay story ${reference}`, 'reported a failed payment');
    expect(story.shown.text).toContain('reported a successful payment');
    expect(story.shown.text).toContain('Pay resolved the alert');
  });

  it('reports a second payment: the alert’s own order was paid, and then its customer’s link', async () => {
    const desk = at();
    const { house } = desk;
    const customerEmail = 'ngozi.eze@example.com';
    const reference = await house.decline({ amount: '62.00', customerEmail });
    const told = await desk.reads('lead', ['Declined by the bank', reference], 'payAlerts');
    const link = await makesLink(desk, 'lead', '62.00', { 'Customer’s e-mail': customerEmail });
    await house.payments.act({ kind: 'pay_order', orderReference: reference, outcome: 'approved' });
    await says(desk, 'payAlerts', `✅ Resolved: paid · NGN 62.00 · n***@example.com · ${reference}`);
    await house.payments.act({ kind: 'pay_order', orderReference: link, outcome: 'approved' });
    const words = [`${reference} was already paid`, 'may need to be given back'];
    const twice = await desk.reads('lead', ['🚨 Paid twice', link, ...words], told);
    expect(twice.shown.text).not.toContain(`paid by ${reference}`);
    await desk.reads('lead', ['🚨 Paid twice', link, ...words], 'leadDm');
    await desk.reads('lead', ['✅ Paid (confirmed)', link, ...words], 'payDesk');
  });

  it('posts an alert whose look-up was not answered with its reference, and looks it up until it is', async () => {
    const desk = at();
    const { house } = desk;
    house.payments.setFaults({ kind: 'error_500', operation: 'GET /v1/transactions/accounts/single' });
    const reference = await house.decline({ amount: '61.00' });
    const unchecked = await desk.reads('onCall', ['not checked', reference], 'payAlerts');
    expect(unchecked.shown.buttons).toContain('Look up');
    house.payments.setFaults();
    await says(desk, 'payAlerts', `❌ Declined by the bank · NGN 61.00 · c***@example.com · ${reference}`);
  });

  it('reports its alerts by the signed transaction, and never trusts an unsigned reference', async () => {
    const desk = at();
    const { house, bot } = desk;
    expect(bot.lines.join('\n')).toContain('saved cards aren’t learnt from events');
    const reference = await house.decline();
    await says(desk, 'payAlerts', `❌ Declined by the bank · NGN 5,000.00 · c***@example.com · ${reference}`);
    async function send(transactionId: string, order: object): Promise<void> {
      const body = JSON.stringify({
        event: 'payment_failed',
        data: { transaction: { transactionId }, order },
      });
      const headers = {
        'content-type': 'application/json',
        ...sign(body, house.payments.credentials.webhookSecret),
      };
      const url = `${house.webhookGate.url}/webhooks/payments`;
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
    }
    await send('T-ALONE', {});
    await says(desk, 'payAlerts', 'transaction T-ALONE');
    await send('T-FOREIGN', { orderReference: reference });
    const foreign = await says(desk, 'payAlerts', 'transaction T-FOREIGN');
    expect(foreign).toContain(`The reference ${reference} came unsigned, so it may be another payment`);
  });
});
