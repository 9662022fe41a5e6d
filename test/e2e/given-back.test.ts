import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { charges, makesLink, shareDesk, type Message } from '../support/desk.ts';

// A payment that was returned to the customer is neither paid nor a charge that took no money.

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const at = shareDesk({
  clock: true,
  env: {
    PAYMENTS_GIVEN_BACK_STATUSES: 'REFUNDED',
    WEBHOOK_KINDS: 'payment_refunded=given_back, Refund.Reversed=given_back',
    CHARGE_TWIN_MINUTES: '0',
  },
  payments: { knownCards: true },
});

beforeAll(() => at().settled());
beforeEach(() => at().house.later(dayMs + minuteMs));

const ada = { card: '4081', amount: '2100.00' };

/** The money is returned; with `sends` the service's event says so. */
async function givesBack(orderReference: string, sends = true): Promise<void> {
  await at().house.payments.act({ kind: 'give_back', orderReference, sends });
}

function inAlerts(...words: string[]): Promise<Message> {
  return at().reads('lead', words, 'payAlerts');
}

describe('a payment whose status the settings call given back', () => {
  it('is looked up as paid and given back, not as unproven and not as not paid', async () => {
    const desk = at();
    const reference = await desk.house.approve();
    await desk.settled('soon');
    await givesBack(reference, false);
    const looked = await desk.asks('agent', `/pay ${reference}`, reference);
    expect(looked.shown.text).toContain(
      `↩️ Paid and given back · NGN 7,500.50 · c***@example.com · ${reference}`,
    );
    expect(looked.shown.text).toContain('✗ status REFUNDED ✓ reference ✓ amount');
    expect(looked.shown.text).toContain('Its money went back to the customer. Don’t deliver.');
    expect(looked.shown.text).not.toContain('Not ');
    const typed = await desk.runs(['lookup', reference]);
    expect(typed.code).toBe(3);
    expect(typed.stdout).toContain('Paid and given back');
  });

  it('ends a charge whose answer was lost the same way: not as untaken money, and without a hold on the card', async () => {
    const desk = at();
    const { house } = desk;
    await house.payments.act({ kind: 'set_next_charge', next: 'lost_answer' });
    const look = { operation: 'GET /v1/transactions/accounts/single' } as const;
    house.payments.setFaults({ kind: 'error_500', ...look });
    const reference = await charges(desk, 'agent', ada);
    await desk.modalSays('agent', 'Approved, confirming');
    await givesBack(reference, false);
    house.payments.setFaults();
    const { shown } = await desk.modalSays('agent', '↩️ Paid and given back');
    expect(shown.text).toContain('It was paid, and the money went back to the customer.');
    expect(shown.text).toContain('REFUNDED');
    expect(shown.text).not.toContain('No money');
    expect(shown.text).not.toContain('Declined');
    await desk.closes('agent');
    await desk.reads('lead', ['↩️ Paid and given back', reference], 'payDesk');
    // The card may be charged at once.
    await charges(desk, 'agent', { ...ada, amount: '2200.00' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    const story = await desk.asks('lead', `/pay story ${reference}`, '↩️ Paid and given back');
    expect(story.shown.text).toContain('was asked, and says that it was paid and given back');
  });

  it('of a failure is not called declined, and offers no charge', async () => {
    const desk = at();
    const { house } = desk;
    const reference = await house.approve({ customerEmail: 'ada.obi@example.com', amount: '2300.00' });
    await desk.settled('soon');
    await givesBack(reference, false);
    const order = { orderReference: reference, amount: '2300.00', currency: 'NGN' };
    await house.sendEvent({ event: 'payment_failed', data: { order } });
    const alert = await inAlerts('Event says failed, look-up says Paid and given back', reference);
    expect(alert.shown.text).toContain('Don’t deliver');
    expect(alert.shown.text).not.toContain('Declined');
    await desk.presses('lead', 'Acknowledge', alert);
    const taken = await inAlerts('👀 Acknowledged', reference);
    expect(taken.shown.buttons).not.toContain('Charge again…');
  });

  it('of a payment link that was not known to be paid is reported on the link, and to its agent', async () => {
    const desk = at();
    const { house } = desk;
    const customer = { 'Customer’s e-mail': 'zainab@example.com' };
    const orderReference = await makesLink(desk, 'agent', '150.00', customer);
    house.payments.setFaults({ kind: 'error_500', operation: 'GET /v1/transactions/accounts/single' });
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    await house.payments.settled();
    await givesBack(orderReference, false);
    house.payments.setFaults();
    const card = await desk.reads('agent', ['↩️ Paid and given back', orderReference], 'payDesk');
    expect(card.shown.buttons).toEqual([]);
    const note = await desk.reads('agent', 'its money went back to the customer', card);
    expect(note.shown.text).toContain(`<@${desk.id('agent')}>`);
  });
});

/** An event of the service that returns this order's money. */
function refunded(orderReference: string, amount: string, transactionId: string, event = 'payment_refunded') {
  return {
    event,
    data: { order: { orderReference, amount, currency: 'NGN' }, transaction: { transactionId } },
  };
}

describe('an event that the settings call given back', () => {
  it('of a charge of the bot’s own is reported on that charge, in its thread and to its agent, and nowhere else', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { ...ada, amount: '3100.00' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.closes('agent');
    await desk.settled('soon');
    await givesBack(reference);
    const card = await desk.reads('lead', ['↩️ Paid and given back · NGN 3,100.00', reference], 'payDesk');
    await desk.reads('lead', 'It was paid, and the money went back to the customer.', card);
    await desk.sees('agent', ['Correction', 'Paid (confirmed)', 'the money went back to the customer']);
    await desk.settled('soon');
    const elsewhere = (['payAlerts', 'payOps'] as const).flatMap((channel) => desk.posts('lead', channel));
    expect(elsewhere.filter(({ shown }) => shown.text.includes(reference))).toEqual([]);
    const story = await desk.asks('lead', `/pay story ${reference}`, '↩️ Paid and given back');
    expect(story.shown.text).toContain('reported that the money was given back');
  });

  it('that its look-up does not confirm leaves the charge paid, and is reported in its thread and to its agent', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { ...ada, amount: '3200.00' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.closes('agent');
    await desk.settled('soon');
    await desk.house.sendEvent(refunded(reference, '3200.00', 'TXN-B'));
    const said = '⚠️ Event says given back, look-up says Paid (confirmed)';
    await desk.sees('agent', [said, 'ask the payments service']);
    const card = await desk.reads('lead', ['✅ Paid (confirmed)', reference], 'payDesk');
    await desk.reads('lead', said, card);
  });

  it('of the payment that resolved an alert is reported in that alert’s thread and to its assignee, each time', async () => {
    const desk = at();
    const { house } = desk;
    const customer = { customerEmail: 'chidi.eze@example.com', amount: '3300.00' };
    const failed = await house.decline(customer);
    await desk.presses('onCall', 'Acknowledge', await inAlerts(failed, 'Acknowledge'));
    const paid = await house.approve(customer);
    const alert = await inAlerts(failed, '✅ Resolved by another payment');
    await house.sendEvent(refunded(paid, '1000.00', 'TXN-1'));
    await desk.reads('lead', ['⚠️ Event says given back, look-up says Paid (confirmed)', paid], alert);
    await givesBack(paid);
    await desk.reads('lead', ['↩️ Paid and given back', `${paid} was paid, and its money went back`], alert);
    await desk.sees('onCall', ['↩️ Paid and given back', paid]);
    await desk.settled('soon');
    const told = desk.posts('lead', alert).filter(({ shown }) => shown.text.includes('given back'));
    expect(told).toHaveLength(2);
    expect(await inAlerts(failed, '✅ Resolved by another payment')).toBeDefined();
  });

  it('of an unknown order is a message of its own, once for each event', async () => {
    const desk = at();
    const { house } = desk;
    const reference = await house.approve({ amount: '3400.00' });
    await desk.settled('soon');
    await givesBack(reference);
    const alert = await inAlerts(`↩️ Paid and given back · NGN 3,400.00 · c***@example.com · ${reference}`);
    expect(alert.shown.text).toContain('✗ status REFUNDED ✓ reference ✓ amount');
    // The same event again changes nothing; with another transaction's id it is another event.
    const { deliveries } = house.payments.state();
    const id = deliveries.find(({ event }) => event === 'payment_refunded')?.id ?? 0;
    await house.payments.act({ kind: 'redeliver', deliveryId: id, how: 'new_id' });
    await house.payments.settled();
    expect(await house.sendEvent(refunded(reference, '400.00', 'TXN-2', 'refund.reversed'))).toBe(200);
    await house.until('both are told', () => ofReference().length === 2);
    await desk.settled('soon');
    expect(ofReference()).toHaveLength(2);
    expect(desk.posts('lead', 'payOps').filter(({ text }) => text.includes('unknown kind'))).toEqual([]);
    const story = await desk.asks('lead', `/pay story ${reference}`, 'the money was given back');
    expect(story.text).toContain('↩️ Given back, by its event');
    expect(story.shown.text.split('reported that the money was given back')).toHaveLength(3);

    function ofReference(): Message[] {
      return desk.posts('lead', 'payAlerts').filter(({ shown }) => shown.text.includes(reference));
    }
  });

  it('of a paid payment link is reported on the link and to its agent', async () => {
    const desk = at();
    const { house } = desk;
    const customer = { 'Customer’s e-mail': 'zainab@example.com' };
    const orderReference = await makesLink(desk, 'agent', '160.00', customer);
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    await desk.reads('agent', ['✅ Paid (confirmed)', orderReference], 'payDesk');
    await givesBack(orderReference);
    const card = await desk.reads('agent', ['↩️ Paid and given back', orderReference], 'payDesk');
    await desk.reads('agent', 'its money went back to the customer', card);
  });
});
