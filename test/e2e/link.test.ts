import { describe, expect, it } from 'vitest';
import {
  openDesk,
  reviews,
  shareDesk,
  type Desk,
  type Filled,
  type Message,
  type Modal,
} from '../support/desk.ts';

const orderPath = '/checkout/order';
const hourMs = 3_600_000;
const email = 'zainab.link@example.com';
const filled = { Amount: '150.00', 'Customer’s e-mail': email, 'Customer id': 'CUST-77' };
const at = shareDesk({ clock: true, env: { LOG_LEVEL: 'debug', PAYMENTS_TIMEOUT_SECONDS: '8' } });

describe('/pay link', () => {
  it('makes a payment link once, with a message that says Paid and Card saved in the end', async () => {
    const desk = at();
    const { house } = desk;
    const form = await desk.opens('agent', '/pay link 150.00');
    expect(form.title).toBe('Payment link');
    const pan = await desk.submits('agent', { ...filled, 'Our reference': '4111 1111 1111 1111' });
    expect(pan?.problems['Our reference']).toContain('card number');
    expect(orders(desk)).toHaveLength(0);
    const asked = house.paymentsGate.hold(orderPath, 'before');
    await desk.submits('agent', { ...filled, 'Our reference': 'LINK-1' });
    await desk.opens('lead', '/pay link');
    const other = await desk.submits('lead', { ...filled, 'Our reference': 'LINK-1' });
    expect(other?.problems['Our reference']).toContain('another link has this reference');
    (await asked).release();
    const order = await expectMade(desk, 'LINK-1');
    expect(orders(desk)).toHaveLength(1);
    expect(orders(desk)[0]).toMatch(/"allowedPaymentMethods":\["Card"\]/);
    expect(orders(desk)[0]).toMatch(/"tokenizeCard":true/);

    const card = await desk.reads('lead', ['Payment link, not paid yet', 'LINK-1'], 'payDesk');
    expect(card.text).toContain('z***@example.com');
    expect(card.shown.text).toContain(order.checkoutLink);
    expect(card.shown.text).toContain('Copy it and send it to the customer');
    await pay(desk, 'LINK-1');
    const paid = await desk.sees('lead', '✅ Paid (confirmed), card saved · NGN 150.00', 'payDesk');
    await house.until('all is told', () => ofLink(desk, 'LINK-1').length === 2);
    const [first, note] = ofLink(desk, 'LINK-1');
    expect(first?.ts).toBe(card.ts);
    expect(first?.shown.text).not.toContain(order.checkoutLink);
    expect(first?.shown.text).toContain('/pay charge offers it');
    expect(first?.shown.buttons).toEqual(['Copy proof']);
    await desk.presses('lead', 'Copy proof', first);
    const proof = await desk.modalSays('lead', ['Payment LINK-1', 'NGN 150.00', 'confirmed by Lagos store']);
    expect(proof.shown.text).not.toMatch(/receipt|@example\.com|order id/i);
    await desk.closes('lead');
    expect(note?.shown.text).toContain(`<@${desk.id('agent')}>`);
    expect(paid.shown.text).toContain('LINK-1');
    await desk.settled();
    expect(ofLink(desk, 'LINK-1')).toHaveLength(2);
    const [saved] = house.payments.state().cards.filter(({ customerEmail }) => customerEmail === email);
    expect(await desk.leaks({ token: saved?.tokenKey ?? '' })).toEqual([]);
    expect(await desk.kept({ address: email })).toEqual([]);
  });

  it('takes no reference of a charge, which the link’s payment would make Paid as well', async () => {
    const desk = at();
    await reviews(desk, 'agent', { token: 'unknown-token', email, amount: '150.00' });
    await desk.submits('agent');
    const refused = await desk.modalSays('agent', 'The service doesn’t know this card');
    const [reference = ''] = /pay-\w+/.exec(refused.shown.text) ?? [];
    await desk.closes('agent');
    await desk.opens('agent', '/pay link');
    const form = await desk.submits('agent', { ...filled, 'Our reference': reference });
    expect(form?.problems['Our reference']).toContain('A charge or another link has this reference');
  });

  it('keeps it in a direct message if the person wants that', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link');
    await submits(desk, 'LINK-2', { 'Post it': 'To me only' });
    const own = await desk.sees('agent', ['Payment link, not paid yet', 'LINK-2'], 'agentDm');
    await desk.closes('agent');
    expect(desk.posts('lead', 'payDesk').filter(({ text }) => text.includes('LINK-2'))).toEqual([]);
    expect(own.shown.buttons).toEqual(['Open link', 'Look up']);
    await pay(desk, 'LINK-2');
    await desk.sees('agent', ['✅ Paid (confirmed)', 'LINK-2'], 'agentDm');
    await desk.settled();
    const told = desk.messages('agent', 'agentDm').filter(({ text }) => text.includes('LINK-2'));
    expect(told.map(({ text }) => text.includes('✅ Paid (confirmed)'))).toEqual([true, true]);
  });

  it('is in its agent’s Home until it is paid, which a look-up finds without an event', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link', 'privateRoom');
    await submits(desk, 'LINK-3');
    const card = await desk.sees('agent', ['Payment link, not paid yet', 'LINK-3'], 'agentDm');
    await desk.closes('agent');
    await desk.home('agent', 'Your open payment links');
    await desk.presses('agent', 'Show link', 'home');
    await desk.modalSays('agent', 'LINK-3');
    await desk.closes('agent');
    desk.house.sendEventsTo([]);
    await pay(desk, 'LINK-3');
    await desk.presses('agent', 'Look up', card);
    await desk.sees('agent', ['✅ Paid (confirmed)', 'LINK-3'], 'agentDm');
    desk.house.sendEventsTo([desk.bot]);
    await desk.house.until('it has left the Home', async () => {
      return !(await desk.home('agent', '/pay help')).text.includes('LINK-3');
    });
  });

  it('checks the payment in its window, and saves no card if told not to', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link');
    await submits(desk, 'LINK-4', { Card: 'Don’t save it' });
    await desk.modalSays('agent', ['No card is saved', 'The service’s order id']);
    await desk.presses('agent', 'Look up');
    await desk.modalSays('agent', [
      'Payment link, not paid yet',
      'No payment of this amount is proven so far',
    ]);
    expect(orders(desk).at(-1)).not.toMatch(/tokenizeCard|allowedPaymentMethods/);
    await pay(desk, 'LINK-4');
    const paid = await desk.reads('lead', ['✅ Paid (confirmed)', 'LINK-4'], 'payDesk');
    expect(paid.shown.text).not.toMatch(/card token|card saved/);
    await desk.settled();
    const alerts = desk.messages('lead', 'payAlerts').filter(({ text }) => text.includes('LINK-4'));
    expect(alerts).toEqual([]);
  });

  it('says where cards are listed if its payment came without the card’s token', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link');
    await submits(desk, 'LINK-11');
    await expectMade(desk, 'LINK-11');
    await desk.closes('agent');
    const { house } = desk;
    house.payments.sendWebhooksTo(undefined);
    await pay(desk, 'LINK-11');
    const order = { orderReference: 'LINK-11', isTokenizedCardPayment: 'false' };
    await house.sendEvent({ event: 'payment_success', data: { order } });
    const words = [
      '✅ Paid (confirmed), no card token',
      'LINK-11',
      '/pay cards <e-mail> lists the saved cards',
    ];
    for (const channel of ['payAlerts', 'payDesk'] as const) await desk.reads('lead', words, channel);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
  });

  it('says that no payment came, and offers a new link; a late payment still counts', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link');
    await submits(desk, 'LINK-5');
    await expectMade(desk, 'LINK-5');
    await desk.closes('agent');
    await desk.reads('lead', 'LINK-5', 'payDesk');
    desk.house.later(73 * hourMs);
    const aged = await desk.reads('agent', ['No payment yet', 'LINK-5'], 'payDesk');
    await desk.presses('agent', 'New link', aged);
    const again = await desk.modalSays('agent', 'It charges nobody by itself');
    expect(JSON.stringify(again)).toContain('"initial_value":"CUST-77"');
    expect(JSON.stringify(again)).toContain(email);
    // A colleague sees it masked, as everywhere.
    await desk.presses('lead', 'New link', aged);
    const theirs = await desk.modalSays('lead', 'It charges nobody by itself');
    expect(JSON.stringify(theirs)).toContain('"initial_value":"CUST-77"');
    expect(JSON.stringify(theirs)).not.toContain(email);
    await desk.closes('agent');
    await pay(desk, 'LINK-5');
    await desk.reads('lead', ['✅ Paid (confirmed)', 'LINK-5'], 'payDesk');
  });

  it('is corrected in the same form after the service refused it', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link');
    await submits(desk, 'ORDER-1001');
    await desk.modalSays('agent', 'The service has an order with this reference already');
    await desk.presses('agent', 'Correct and try again');
    const form = await desk.modalSays('agent', 'It charges nobody by itself');
    // The typed reference stays for correction; otherwise the bot would silently use its own.
    expect(JSON.stringify(form)).toContain('"initial_value":"ORDER-1001"');
    await desk.submits('agent', { 'Our reference': 'LINK-6' });
    await expectMade(desk, 'LINK-6');
  });

  it('needs a role', async () => {
    const desk = at();
    await desk.asks('onCall', '/pay link', 'Not allowed');
  });

  it('is confirming while the service is away, and Paid afterwards', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link');
    await submits(desk, 'LINK-7');
    await desk.reads('lead', ['Payment link, not paid yet', 'LINK-7'], 'payDesk');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'error_500' });
    await pay(desk, 'LINK-7');
    const confirming = await desk.reads('lead', ['🕓 Approved, confirming', 'LINK-7'], 'payDesk');
    expect(confirming.shown.text).not.toContain('Paid');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await desk.reads('lead', ['✅ Paid (confirmed)', 'LINK-7'], 'payDesk');
  });

  it('whose order was made but whose answer was lost says so, and a new one is offered', async () => {
    const desk = at();
    await desk.opens('agent', '/pay link');
    const answer = desk.house.paymentsGate.hold(orderPath, 'after');
    await submits(desk, 'LINK-9');
    await answer;
    desk.house.paymentsGate.cut();
    const isLost = () => desk.bot.lines.some((line) => /POST .*checkout\/order".*"network"/.test(line));
    await desk.house.until('the bot sees none', isLost);
    desk.house.later(hourMs / 20);
    const lost = await desk.reads('lead', ['No payment link', 'nobody was charged', 'LINK-9'], 'payDesk');
    await desk.closes('agent');
    await desk.presses('agent', 'New link', lost);
    await desk.modalSays('agent', 'It charges nobody by itself');
    await desk.submits('agent', { 'Our reference': 'LINK-10' });
    await desk.reads('lead', ['Payment link, not paid yet', 'LINK-10'], 'payDesk');
  });
});

describe('a payment link', () => {
  it('says in the sandbox that no card is really saved', async (test) => {
    const desk = await openDesk(test, { env: { PAYMENTS_ENVIRONMENT: 'sandbox' } });
    await desk.opens('agent', '/pay link');
    await submits(desk, 'LINK-8');
    expect((await desk.modalSays('agent', 'The service’s order id')).shown.text).toContain('SANDBOX');
    await pay(desk, 'LINK-8');
    const words = ['✅ Paid (confirmed), no card token', 'The sandbox saves no real cards'];
    await desk.reads('lead', words, 'payDesk');
  });
});

async function submits(desk: Desk, reference: string, more: Filled = {}): Promise<Modal | undefined> {
  return await desk.submits('agent', { ...filled, 'Our reference': reference, ...more });
}

/** Resolves with the order of the window on top. */
async function expectMade({ house, modalSays }: Desk, reference: string): Promise<{ checkoutLink: string }> {
  const shown = await modalSays('agent', ['The service’s order id', reference]);
  const order = house.payments.state().orders.find((one) => one.orderReference === reference);
  const { checkoutLink = '?', orderId = '?' } = order ?? {};
  for (const words of [checkoutLink, orderId]) expect(shown.shown.text).toContain(words);
  return { checkoutLink };
}

/** All orders that the service was asked to create. */
function orders({ house }: Desk): string[] {
  return house.paymentsGate.passed
    .filter(({ path }) => path.endsWith(orderPath))
    .map(({ request }) => request);
}

/** The link's message and its thread. */
function ofLink(desk: Desk, reference: string): Message[] {
  return desk.messages('agent', 'payDesk').filter(({ shown }) => shown.text.includes(reference));
}

async function pay({ house: { payments } }: Desk, orderReference: string): Promise<void> {
  const paid = await payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
  if (!paid.ok) throw new Error(paid.problem);
}
