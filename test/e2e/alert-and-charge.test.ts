import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { charges, makesLink, shareDesk, type Message } from '../support/desk.ts';

// An alert and a charge about the same money must agree, and each must report what ends the other.

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const at = shareDesk({
  clock: true,
  env: { PAYMENTS_TIMEOUT_SECONDS: '5', CHARGE_TWIN_MINUTES: '0' },
  payments: { knownCards: true },
  policy: (policy) => policy.replace('    - { what: retry }\n', ''),
});

beforeAll(() => at().settled());
// Each story has its own day, so that no card is on hold from the story before.
beforeEach(() => at().house.later(dayMs + minuteMs));

const bola = '1127';

/** The alert's newest message in its channel, once it has the words. */
function alertSays(reference: string, ...words: string[]): Promise<Message> {
  return at().reads('lead', [reference, ...words], 'payAlerts');
}

/** The lead acknowledges the alert, and makes a payment link from it. Returns the link's reference. */
async function linkFrom(failed: string, amount: string): Promise<string> {
  const desk = at();
  await desk.presses('lead', 'Acknowledge', await alertSays(failed, 'Acknowledge'));
  await desk.presses('lead', 'Payment link', await alertSays(failed, 'Payment link'));
  await desk.modalSays('lead', 'The customer pays on');
  await desk.submits('lead', { Amount: amount });
  await desk.modalSays('lead', '/checkout/');
  return desk.house.payments.state().orders[0]?.orderReference ?? '';
}

/** Resolves once the service has sent this charge's failure, and nothing is left to post about it. */
async function failureIsSent(reference: string): Promise<void> {
  const { house } = at();
  const sent = () =>
    house.payments
      .state()
      .deliveries.filter((one) => one.orderReference === reference && one.state === 'delivered');
  await house.until('the failure is sent', () => sent().length > 0);
  await at().settled('soon');
}

async function typesWrongCodes(): Promise<void> {
  for (const code of ['999991', '999992', '999993'])
    await at().submits('agent', { 'Code from the bank': code });
}

function alertsOf(reference: string): string[] {
  return at()
    .posts('lead', 'payAlerts')
    .map(({ text }) => text)
    .filter((text) => text.includes(reference));
}

describe('a charge of the bot’s own that fails', () => {
  it('whose code expires is reported only by its own message: Expired, and a look-up says the same', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: bola, amount: '1500.00' });
    await desk.modalSays('agent', 'Needs a code');
    desk.house.later(15 * minuteMs + 1_000);
    await failureIsSent(reference);
    await desk.modalSays('agent', ['⌛ Expired', 'No code was accepted in time', 'charge again if']);
    expect(alertsOf(reference)).toEqual([]);
    const looked = await desk.asks('agent', `/pay ${reference}`, reference);
    expect(looked.shown.text).toContain('⌛ Expired');
    expect(looked.shown.text).toContain('charge again if the customer still wants it');
    expect(looked.shown.text).not.toContain('Declined');
  });

  it('whose code was wrong three times is reported only by its own message', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: bola, amount: '1600.00' });
    await desk.modalSays('agent', 'Needs a code');
    await typesWrongCodes();
    await desk.modalSays('agent', ['🚫 Code wrong three times', 'check the customer’s phone']);
    desk.house.later(15 * minuteMs + 1_000);
    await failureIsSent(reference);
    expect(alertsOf(reference)).toEqual([]);
    const looked = await desk.asks('agent', `/pay ${reference}`, reference);
    expect(looked.shown.text).toContain('🚫 Code wrong three times');
    expect(looked.shown.text).toContain('check the customer’s phone, then charge again');
  });

  it('whose codes were used up elsewhere is reported in the service’s words, also in its look-up', async () => {
    const desk = at();
    const { paymentsGate } = desk.house;
    const reference = await charges(desk, 'agent', { card: bola, amount: '1650.00' });
    await desk.modalSays('agent', 'Needs a code');
    const path = '/v1/checkout/checkout-card-otp';
    const charged = paymentsGate.passed.findLast(({ answer }) => answer.includes('transactionId'));
    const transactionId = /"transactionId":"([^"]+)"/.exec(charged?.answer ?? '')?.[1];
    const body = JSON.stringify({ otp: '999990', orderReference: reference, transactionId });
    for (let tries = 0; tries < 3; tries += 1) {
      await fetch(`${paymentsGate.url}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
    }
    await desk.submits('agent', { 'Code from the bank': '999991' });
    await desk.modalSays('agent', ['🚫 No more codes accepted', 'The service says: TOO MANY OTP ATTEMPTS']);
    const looked = await desk.asks('agent', `/pay ${reference}`, ' checked ');
    expect(looked.shown.text).toContain('🚫 No more codes accepted');
    expect(looked.shown.text).toContain('The service says: TOO MANY OTP ATTEMPTS');
    expect(looked.shown.text).not.toContain('three times');
  });

  it('at the bank is reported only by its own message, and counted in no list of open alerts', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: '6640', amount: '1700.00' });
    await desk.modalSays('agent', '❌ Declined by the bank');
    await failureIsSent(reference);
    expect(alertsOf(reference)).toEqual([]);
  });

  it('has an alert if the charge is paid in spite of the event', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: '4081', amount: '1800.00' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    const order = { orderReference: reference, amount: '1800.00', currency: 'NGN' };
    await desk.house.sendEvent({ event: 'payment_failed', data: { order } });
    await alertSays(reference, '✅ Resolved: paid');
  });
});

describe('a failure whose card is on hold, if no rule allows to charge it sooner', () => {
  it('offers a filled-in payment link until the hold ends; then Charge again…', async () => {
    const desk = at();
    const reference = await desk.house.decline({
      customerEmail: 'chidi.eze@example.com',
      amount: '1900.00',
    });
    const alert = await alertSays(reference, 'Acknowledge');
    expect(alert.shown.buttons).toEqual(['Acknowledge', 'Look up', 'Resolve…']);
    await desk.presses('lead', 'Acknowledge', alert);
    const taken = await alertSays(reference, '👀 Acknowledged', 'Payment link');
    expect(taken.shown.buttons).toEqual(['Payment link', 'Resolve…', 'Look up', 'Assign…', 'Snooze…']);
    await desk.presses('lead', 'Payment link', taken);
    await desk.modalSays('lead', 'The customer pays on the payments service’s page');
    await desk.submits('lead');
    await desk.modalSays('lead', ['🔗 Payment link', 'NGN 1,900.00 · c***@example.com']);
    await desk.closes('lead');
    desk.house.later(dayMs);
    await alertSays(reference, 'Charge again…');
  });
});

/** A failure of the merchant's own charge, and the form to charge it again; the card's hold has ended. */
async function chargesAgain(
  amount: string,
  card: string,
  customerEmail = 'bola.ade@example.com',
): Promise<{ failed: string; first: string }> {
  const desk = at();
  const failed = await desk.house.decline({ customerEmail, amount });
  await alertSays(failed, 'Acknowledge');
  desk.house.later(dayMs + minuteMs);
  await desk.asks('onCall', `/pay ${failed}`, failed);
  await desk.presses('lead', 'Acknowledge', await alertSays(failed, 'Acknowledge'));
  const first = await againFrom('agent', failed, card);
  return { failed, first };
}

/** Charges from the alert; returns the reference. */
async function againFrom(person: 'agent' | 'lead', failed: string, card: string): Promise<string> {
  const desk = at();
  const before = new Set(desk.house.payments.state().orders.map(({ orderReference }) => orderReference));
  await desk.presses(person, 'Charge again…', await alertSays(failed, 'Charge again…'));
  await desk.modalSays(person, 'Charge a card');
  await desk.submits(person, { 'Saved card': card });
  await desk.submits(person);
  await desk.house.until('it is charged', () =>
    desk.house.payments.state().orders.some(({ orderReference }) => !before.has(orderReference)),
  );
  return (
    desk.house.payments.state().orders.find(({ orderReference }) => !before.has(orderReference))
      ?.orderReference ?? ''
  );
}

function paysLate(orderReference: string) {
  return at().house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
}

describe('two payments for one alert', () => {
  it('by two charges, the first of them paid late: reported in the thread, on both charges, and to both agents', async () => {
    const desk = at();
    const { failed, first } = await chargesAgain('2100.00', bola);
    await desk.modalSays('agent', 'Needs a code');
    desk.house.later(16 * minuteMs + 2_000);
    await desk.modalSays('agent', '⌛ Expired');
    const second = await againFrom('lead', failed, '4081');
    await desk.modalSays('lead', ['Paid (confirmed)', 'Deliver once']);
    const alert = await alertSays(failed, '✅ Resolved', second);
    await paysLate(first);
    const words = [failed, 'was already paid by', second, 'may need to be given back'];
    await desk.reads('lead', ['🚨 Paid twice', first, ...words], alert);
    for (const person of ['agent', 'lead'] as const)
      await desk.reads(person, ['🚨 Paid twice', first, ...words], `${person}Dm`);
    const late = await desk.modalSays('agent', ['Paid (confirmed)', ...words]);
    expect(late.shown.text).not.toContain('Deliver once');
    await desk.modalSays('lead', [failed, 'was already paid by', first, 'may need to be given back']);
    await desk.reads('onCall', [first, ...words], 'payDesk');
    await desk.settled('soon');
    expect(desk.posts('lead', alert).filter(({ text }) => text.includes('Paid twice'))).toHaveLength(1);
  });

  it('by a payment link of that customer, with the charge paid late: reported to both', async () => {
    const desk = at();
    const { failed, first } = await chargesAgain('2200.00', bola);
    await desk.modalSays('agent', 'Needs a code');
    desk.house.later(16 * minuteMs + 2_000);
    await desk.modalSays('agent', '⌛ Expired');
    const link = await makesLink(desk, 'lead', '2200.00', { 'Customer’s e-mail': 'bola.ade@example.com' });
    await paysLate(link);
    await alertSays(failed, '✅ Resolved', link);
    await paysLate(first);
    for (const person of ['agent', 'lead'] as const)
      await desk.reads(person, ['🚨 Paid twice', failed, link], `${person}Dm`);
  });

  it('by a charge, and by the payment link made from the alert before: reported to both', async () => {
    const desk = at();
    const customerEmail = 'chidi.eze@example.com';
    const failed = await desk.house.decline({ customerEmail, amount: '2400.00' });
    // A link for half of it still belongs to the alert.
    const link = await linkFrom(failed, '1200.00');
    await desk.settled('soon');
    desk.house.later(dayMs + minuteMs);
    const charged = await againFrom('agent', failed, '4081');
    await alertSays(failed, '✅ Resolved', charged);
    await paysLate(link);
    for (const person of ['agent', 'lead'] as const)
      await desk.reads(person, ['🚨 Paid twice', failed, charged, link], `${person}Dm`);
    await desk.modalSays('agent', ['was already paid by', link]);
  });

  it('by a charge, and by a payment link of that customer for the same amount: reported to both, and on the link', async () => {
    const desk = at();
    const customerEmail = 'chidi.eze@example.com';
    const failed = await desk.house.decline({ customerEmail, amount: '2500.00' });
    await desk.presses('lead', 'Acknowledge', await alertSays(failed, 'Acknowledge'));
    const linked: Record<string, string> = {};
    // Another amount is another sale.
    for (const amount of ['2600.00', '2500.00']) {
      linked[amount] = await makesLink(desk, 'lead', amount, { 'Customer’s e-mail': customerEmail });
    }
    const { '2500.00': link = '', '2600.00': other = '' } = linked;
    // What is written while the clock jumps would be due by the time after the jump.
    await desk.settled('soon');
    desk.house.later(dayMs + minuteMs);
    const charged = await againFrom('agent', failed, '4081');
    const alert = await alertSays(failed, '✅ Resolved', charged);
    await paysLate(other);
    await paysLate(link);
    const words = [failed, 'was already paid by', charged, 'may need to be given back'];
    await desk.reads('lead', ['🚨 Paid twice', link, ...words], alert);
    for (const person of ['agent', 'lead'] as const)
      await desk.reads(person, ['🚨 Paid twice', link, ...words], `${person}Dm`);
    await desk.reads('lead', ['✅ Paid (confirmed)', link, ...words], 'payDesk');
    await desk.settled('soon');
    expect(desk.posts('lead', alert).filter(({ text }) => text.includes('Paid twice'))).toHaveLength(1);
    expect((await desk.reads('lead', ['✅ Paid (confirmed)', other], 'payDesk')).shown.text).not.toContain(
      'already',
    );
  });

  it('after it was closed as paid in cash: reported to the person who closed it and to the agent', async () => {
    const desk = at();
    const { failed, first } = await chargesAgain('2300.00', bola);
    await desk.modalSays('agent', 'Needs a code');
    desk.house.later(16 * minuteMs + 2_000);
    await desk.modalSays('agent', '⌛ Expired');
    await desk.presses('onCall', 'Resolve…', await alertSays(failed, 'Resolve…'));
    await desk.modalSays('onCall', 'Resolve alert');
    await desk.submits('onCall', { Reason: 'Paid in cash' });
    const alert = await alertSays(failed, '☑️ Resolved');
    await paysLate(first);
    const words = ['🚨 Paid after it was resolved', 'Paid in cash', 'given back'];
    await desk.reads('lead', words, alert);
    for (const person of ['agent', 'onCall'] as const) await desk.reads(person, words, `${person}Dm`);
    await desk.modalSays('agent', [first, 'Paid in cash', 'given back']);
  });
});

describe('a payment link and a charge for one alert', () => {
  it('names the link that a colleague made while the review was open, before the card is charged', async () => {
    const desk = at();
    const customerEmail = 'chidi.eze@example.com';
    const failed = await desk.house.decline({ customerEmail, amount: '2700.00' });
    await desk.presses('lead', 'Acknowledge', await alertSays(failed, 'Acknowledge'));
    desk.house.later(dayMs + minuteMs);
    await desk.presses('agent', 'Charge again…', await alertSays(failed, 'Charge again…'));
    await desk.modalSays('agent', 'Charge a card');
    const review = await desk.submits('agent', { 'Saved card': '4081' });
    expect(review?.shown.text).not.toContain('payment link');
    const link = await makesLink(desk, 'lead', '2700.00', { 'Customer’s e-mail': customerEmail });
    const charged = desk.calls('/tokenized-card-payment');
    await desk.submits('agent');
    const again = await desk.modalSays('agent', ['A payment for this isn’t settled yet', link]);
    expect(again.submit).toBe('Charge NGN 2,700.00');
    expect(desk.calls('/tokenized-card-payment')).toBe(charged);
    await desk.submits('agent');
    await desk.modalSays('agent', 'Paid (confirmed)');
    expect(desk.calls('/tokenized-card-payment')).toBe(charged + 1);
  });

  it('says what had failed if a link for less resolves the alert', async () => {
    const desk = at();
    const customerEmail = 'chidi.eze@example.com';
    const failed = await desk.house.decline({ customerEmail, amount: '3000.00' });
    await paysLate(await linkFrom(failed, '1500.00'));
    const words = ['✅ Resolved', 'NGN 1,500.00', 'Failed amount NGN 3,000.00'];
    await alertSays(failed, ...words);
    await desk.reads('lead', [failed, ...words], 'leadDm');
  });

  it('makes no link, not even a typed one, while the alert’s card is being charged', async () => {
    const desk = at();
    const { first } = await chargesAgain('2800.00', bola);
    await desk.modalSays('agent', 'Needs a code');
    const orders = desk.calls('/checkout/order');
    await desk.opens('lead', '/pay link 2800.00');
    await desk.submits('lead', { 'Customer’s e-mail': 'bola.ade@example.com' });
    await desk.modalSays('lead', ['No payment link', first]);
    expect(desk.calls('/checkout/order')).toBe(orders);
  });

  it('says on the link that its alert was paid otherwise, instead of asking to send it', async () => {
    const desk = at();
    const customerEmail = 'chidi.eze@example.com';
    const failed = await desk.house.decline({ customerEmail, amount: '2900.00' });
    await desk.presses('lead', 'Acknowledge', await alertSays(failed, 'Acknowledge'));
    const link = await makesLink(desk, 'lead', '2900.00', { 'Customer’s e-mail': customerEmail });
    await desk.reads('lead', [link, 'send it to the customer'], 'payDesk');
    await desk.presses('onCall', 'Resolve…', await alertSays(failed, 'Acknowledged'));
    await desk.modalSays('onCall', ['Resolve alert', 'isn’t settled yet', link]);
    const paid = await desk.house.approve({ customerEmail, amount: '2900.00' });
    await alertSays(failed, '✅ Resolved', paid);
    const told = await desk.reads('lead', [link, failed, 'was already paid by', paid], 'payDesk');
    expect(told.shown.text).not.toContain('send it to the customer');
  });
});

describe('a look-up of a failure', () => {
  it('says that somebody charges it, then that another payment paid it: not to charge it again', async () => {
    const desk = at();
    const { failed, first } = await chargesAgain('3100.00', bola);
    await desk.modalSays('agent', 'Needs a code');
    const charging = await desk.asks('lead', `/pay ${failed}`, 'is charging it');
    expect(charging.shown.text).toContain(`<@${desk.id('agent')}> is charging it: ${first}`);
    expect(charging.shown.text).toContain('Next: wait for its result.');
    // The alert's own button says the same as the command.
    const alert = await alertSays(failed, 'Charging now');
    await desk.seesBy('lead', [`is charging it: ${first}`, 'wait for its result'], () =>
      desk.presses('lead', 'Look up', alert),
    );
    const { otp } = desk.house.payments.state().orders.find((one) => one.orderReference === first) ?? {};
    await desk.submits('agent', { 'Code from the bank': otp?.code ?? '' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    await alertSays(failed, '✅ Resolved', first);
    const paid = await desk.asks('lead', `/pay ${failed}`, 'was already paid by');
    expect(paid.shown.text).toContain(`${failed} was already paid by ${first}`);
    expect(paid.shown.text).not.toMatch(/another card|try again|charge again/);
  });

  it('says who resolved its alert, and why', async () => {
    const desk = at();
    const failed = await desk.house.decline({ amount: '3200.00', reason: 'Expired card' });
    const before = await desk.asks('agent', `/pay ${failed}`, 'Expired card');
    expect(before.shown.text).toContain('Next: ask the customer for another card.');
    await desk.presses('onCall', 'Resolve…', await alertSays(failed, 'Resolve…'));
    await desk.modalSays('onCall', 'Resolve alert');
    await desk.submits('onCall', { Reason: 'Paid in cash' });
    await alertSays(failed, '☑️ Resolved');
    const after = await desk.asks('agent', `/pay ${failed}`, 'Paid in cash');
    expect(after.shown.text).toMatch(/Its alert was resolved by <@U0ONCALL01>.*Paid in cash/);
    expect(after.shown.text).not.toContain('another card');
  });
});

describe('a charge that ended without money', () => {
  it.each([
    ['another payment resolved its alert', 'was already paid by'],
    ['a person resolved its alert', 'was resolved by'],
    ['a colleague charges the alert', 'is charging it'],
  ])('offers no other once %s', async (how, words) => {
    const desk = at();
    const amount = `${3300 + words.length}.00`;
    const { failed, first } = await chargesAgain(amount, bola);
    await desk.modalSays('agent', 'Needs a code');
    await typesWrongCodes();
    const before = await desk.modalSays('agent', ['🚫 Code wrong three times', 'then charge again']);
    expect(before.shown.buttons).toEqual(['Charge again']);
    if (how.startsWith('another')) {
      await desk.house.approve({ customerEmail: 'bola.ade@example.com', amount });
      await alertSays(failed, '✅ Resolved');
    } else if (how.startsWith('a person')) {
      await desk.presses('onCall', 'Resolve…', await alertSays(failed, 'Resolve…'));
      await desk.modalSays('onCall', 'Resolve alert');
      await desk.submits('onCall', { Reason: 'Paid in cash' });
      await alertSays(failed, '☑️ Resolved');
    } else {
      await desk.house.payments.act({ kind: 'set_next_charge', next: 'otp' });
      await againFrom('lead', failed, '4081');
      await desk.modalSays('lead', 'Needs a code');
      await desk.closes('agent');
      await desk.home('agent', first);
      await desk.presses('agent', 'Show it', 'home');
    }
    const ended = await desk.modalSays('agent', ['🚫 Code wrong three times', words]);
    expect(ended.shown.text).not.toContain('then charge again');
    expect(ended.shown.buttons).toEqual([]);
  });
});

describe('a charge typed without an alert that ended without money', () => {
  it('offers no other once the customer has paid otherwise, nor by a button that is still on the screen', async () => {
    const desk = at();
    const failed = await charges(desk, 'agent', { card: bola, amount: '3450.00' });
    await desk.modalSays('agent', 'Needs a code');
    await typesWrongCodes();
    await desk.modalSays('agent', ['🚫 Code wrong three times', 'then charge again']);
    desk.house.later(16 * minuteMs);
    await failureIsSent(failed);
    await desk.closes('agent');
    await desk.home('agent', failed);
    await desk.presses('agent', 'Show it', 'home');
    const before = await desk.modalSays('agent', 'then charge again');
    expect(before.shown.buttons).toEqual(['Charge again']);
    const link = await makesLink(desk, 'lead', '3450.00', { 'Customer’s e-mail': 'bola.ade@example.com' });
    await paysLate(link);
    const after = await desk.modalSays('agent', [failed, 'was already paid by', link]);
    expect(after.shown.text).not.toContain('then charge again');
    expect(after.shown.buttons).toEqual([]);
  });
});

describe('an alert whose charge needs review', () => {
  it('says so, instead of *being charged*, in its channel and to a person who would charge it again', async () => {
    const desk = at();
    const { failed, first } = await chargesAgain('2400.12', '4081');
    await desk.modalSays('agent', '🚨 Needs review');
    const alert = await alertSays(failed, 'Charge under review', first);
    expect(alert.text).not.toContain('Charging now');
    // The failure's own next step is to charge again.
    expect(alert.shown.text).not.toContain('Next:');
    await desk.presses('onCall', 'Resolve…', alert);
    await desk.modalSays('onCall', ['Resolve alert', first, 'needs review: money may have moved']);
    await desk.closes('onCall');
  });
});

describe('an alert whose charge waits for a code', () => {
  it('says so to a person who closes or assigns it, closes on the second press, and its agent’s window then says that', async () => {
    const desk = at();
    const { failed, first } = await chargesAgain('2500.00', bola);
    await desk.modalSays('agent', 'Needs a code');
    const words = [`<@${desk.id('agent')}>`, first, 'Money may still move'];
    await desk.presses('lead', 'Assign…', await alertSays(failed, 'Charging now'));
    await desk.modalSays('lead', ['Assign alert', ...words]);
    await desk.closes('lead');
    await desk.presses('onCall', 'Resolve…', await alertSays(failed, 'Charging now'));
    await desk.modalSays('onCall', ['Resolve alert', ...words]);
    const asked = await desk.submits('onCall', { Reason: 'Paid in cash' });
    expect(asked?.submit).toBe('Resolve anyway');
    for (const word of words) expect(asked?.shown.text).toContain(word);
    expect((await alertSays(failed)).text).not.toContain('Resolved');
    await desk.submits('onCall');
    await alertSays(failed, '☑️ Resolved', 'Paid in cash');
    await desk.modalSays('agent', [
      'was resolved by',
      'Paid in cash',
      'Money may still move',
      'Code from the bank',
    ]);
    await desk.reads('lead', [first, 'was resolved by', 'Paid in cash'], 'payDesk');
    await typesWrongCodes();
    const over = await desk.modalSays('agent', ['Code wrong three times', 'No money moved', 'Paid in cash']);
    const post = await desk.reads('lead', ['Code wrong three times', first, 'Paid in cash'], 'payDesk');
    for (const { text } of [over.shown, post.shown]) {
      expect(text).not.toContain('may still move');
      expect(text.split('Paid in cash')).toHaveLength(2);
    }
  });
});
