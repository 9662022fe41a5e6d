import { describe, expect, test } from 'vitest';
import { shareDesk, type Filled, type Message, type Modal } from '../support/desk.ts';
import type { Charged, Person } from '../support/house.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const chidi = 'chidi.eze@example.com';

const at = shareDesk({
  clock: true,
  payments: { knownCards: true },
  env: { CHARGE_RETRY_WAIT_HOURS: '1', CHARGE_TWIN_MINUTES: '0' },
  policy: (policy) => policy.replace('may: [lookup, doubt]', 'may: [lookup, doubt, charge]'),
});

let customers = 0;
/** Unique, so that no payment of one story resolves a failure of another. */
function newCustomer(): string {
  customers += 1;
  return `customer.${customers}@example.com`;
}

/** The alert's newest message in its channel, once it has the words. */
function alertSays(reference: string, ...words: string[]): Promise<Message> {
  return at().reads('lead', [reference, ...words], 'payAlerts');
}

/** A new failed charge and its open alert. */
async function fails(charged: Charged = {}) {
  const { house } = at();
  const customerEmail = charged.customerEmail ?? newCustomer();
  const reference = await house.decline({ ...charged, customerEmail });
  return { reference, customerEmail, alert: await alertSays(reference, 'Acknowledge') };
}

/** The same, acknowledged by the lead. */
async function isTaken(charged?: Charged) {
  const { reference, customerEmail, alert } = await fails(charged);
  await at().presses('lead', 'Acknowledge', alert);
  return { reference, customerEmail, alert: await alertSays(reference, '👀 Acknowledged') };
}

/** Presses a button that opens a form, fills it in and submits it. */
async function does(
  person: Person,
  label: string,
  alert: Message,
  filled: Filled,
): Promise<Modal | undefined> {
  await at().presses(person, label, alert);
  await at().modalSays(person, label.replace('…', ' alert'));
  return await at().submits(person, filled);
}

async function idle(): Promise<void> {
  await at().settled('soon');
}

function direct(person: 'agent' | 'lead' | 'onCall', ...words: string[]): Promise<Message> {
  return at().reads(person, words, `${person}Dm`);
}

function directsAbout(person: 'agent' | 'lead' | 'onCall', reference: string): string[] {
  return at()
    .posts(person, `${person}Dm`)
    .map(({ text }) => text)
    .filter((text) => text.includes(reference));
}

describe('one failure, one message', () => {
  test('says the bank’s words, the next step for them, and what the service confirms, without calling people', async () => {
    const { alert, reference } = await fails({ amount: '1234.50', customerEmail: chidi });
    expect(alert.text).toBe(`❌ Declined by the bank · NGN 1,234.50 · c***@example.com · ${reference}`);
    for (const words of ['Insufficient funds', 'try again from', '✗ status FAILED', 'Lagos store'])
      expect(alert.shown.text).toContain(words);
    expect(alert.shown.buttons).toEqual(['Acknowledge', 'Charge again…', 'Look up', 'Resolve…']);
    expect(alert.shown.text).not.toContain('<@');
  });

  test('is told once, however often its event is sent, late or with another id; a forged one is refused', async () => {
    const { house, posts } = at();
    const { reference } = await fails();
    const sent = () =>
      house.payments.state().deliveries.filter(({ orderReference }) => orderReference === reference);
    const deliveryId = sent()[0]?.id ?? 0;
    for (const how of ['again', 'new_id', 'late', 'bad_signature'] as const)
      await house.payments.act({ kind: 'redeliver', deliveryId, how });
    await idle();
    expect(posts('lead', 'payAlerts').filter(({ text }) => text.includes(reference))).toHaveLength(1);
    expect(Object.fromEntries(sent().map(({ how, lastStatus }) => [how ?? 'first', lastStatus]))).toEqual({
      first: 200,
      again: 200,
      new_id: 200,
      late: 200,
      bad_signature: 401,
    });
  });
});

describe('the states of an alert', () => {
  test('Acknowledge: one person has it, and the second to click reads who was first', async () => {
    const desk = at();
    const { reference, alert } = await fails();
    await desk.presses('lead', 'Acknowledge', alert);
    await desk.presses('onCall', 'Acknowledge', alert);
    const first = ['Acknowledged by somebody else first', `<@${desk.id('lead')}>`];
    const told = await desk.sees('onCall', first, 'payAlerts');
    expect(told.ephemeral).toBe(true);
    const lead = desk.named('lead');
    const taken = await alertSays(reference, '👀 Acknowledged', `Acknowledged by ${lead}`);
    expect(taken.shown.buttons).toEqual(['Look up', 'Resolve…', 'Assign…', 'Snooze…']);
    const note = await desk.reads('onCall', ['👀 Acknowledged', `By ${lead}`], taken);
    // It names the person who pressed, without a mention.
    for (const { shown } of [taken, note]) expect(shown.text).not.toContain('<@');
  });

  test('Assign: the new and the former assignee are told by direct message, with a link', async () => {
    const desk = at();
    const { reference, alert } = await isTaken();
    const refused = await does('lead', 'Assign…', alert, { 'Assign to': desk.id('outsider') });
    expect(refused?.problems['Assign to']).toContain('They can’t use its buttons');
    await desk.submits('lead', { 'Assign to': desk.id('agent') });
    const agent = desk.named('agent');
    const assigned = await alertSays(reference, 'Assigned to', agent);
    await desk.reads('lead', ['👤 Assigned', agent], assigned);
    const told = await direct('agent', '👤 Assigned to you', reference);
    expect(told.shown.buttons).toEqual(['Look up', 'Resolve…', 'Assign…', 'Snooze…']);
    expect(JSON.stringify(told.blocks)).toContain(
      `<https://slack.com/archives/${alert.channel}/p${alert.ts.replace('.', '')}|`,
    );
    // A person who gives an alert away is not told; a person who loses it by a third person's press is.
    expect(directsAbout('lead', reference)).toEqual([]);
    await does('onCall', 'Assign…', assigned, { 'Assign to': desk.id('lead') });
    await direct('agent', '👤 Assigned to somebody else', reference);
    await direct('lead', '👤 Assigned to you', reference);
  });

  test('Snooze: ends on time, reported in the thread and by direct message to the assignee', async () => {
    const desk = at();
    const { reference, alert } = await isTaken();
    await does('lead', 'Snooze…', alert, { 'For how long': '1 hour' });
    const snoozed = await alertSays(reference, '💤 Snoozed', 'Snoozed until');
    await desk.reads('lead', '💤 Snoozed', snoozed);
    await idle();
    desk.house.later(59 * minuteMs);
    await idle();
    expect(directsAbout('lead', reference)).toEqual([]);
    desk.house.later(2 * minuteMs);
    await direct('lead', '⏰ The snooze is over', reference);
    await desk.reads('lead', '⏰ The snooze is over', snoozed);
    await alertSays(reference, '👀 Acknowledged');
  });

  test('Close: asks for a reason, tells the assignee, and leaves the first line and the end', async () => {
    const desk = at();
    const { reference, alert } = await isTaken();
    await does('onCall', 'Resolve…', alert, { Reason: 'Paid in cash' });
    const closed = await alertSays(reference, '☑️ Resolved', 'Paid in cash', desk.named('onCall'));
    expect(closed.shown.buttons).toEqual([]);
    expect(closed.shown.text).not.toContain('Insufficient funds');
    await desk.reads('lead', ['☑️ Resolved', 'Paid in cash'], closed);
    await direct('lead', '☑️ Resolved', reference);
  });

  test('Look up: a person with the permission reads the verdict, and everybody reads that it was looked up', async () => {
    const desk = at();
    const { reference, alert } = await fails();
    // Not at the moment of its first look-up: the house's clock has steps of 20 ms.
    desk.house.later(1_000);
    await desk.presses('agent', 'Look up', alert);
    const answer = await desk.sees('agent', ['Declined', reference, '✗'], 'payAlerts');
    await desk.sees('agent', 'try again from', 'payAlerts');
    expect(answer.channel).toBe(alert.channel);
    await alertSays(reference, 'checked');
  });

  test('need the permission: the support agent is refused, and nothing changes', async () => {
    const desk = at();
    const { reference, alert } = await fails();
    await desk.presses('agent', 'Acknowledge', alert);
    await desk.sees('agent', ['Not allowed: Acknowledge', 'Ask <@'], 'payAlerts');
    await desk.presses('agent', 'Resolve…', alert);
    await idle();
    expect(desk.modal('agent')?.title ?? '').not.toContain('Resolve alert');
    expect((await alertSays(reference)).shown.buttons).toContain('Acknowledge');
  });

  test('are in the audit: who did what with which alert', async () => {
    const desk = at();
    const { reference, alert } = await isTaken();
    await does('lead', 'Resolve…', alert, { Reason: 'Told the customer' });
    await alertSays(reference, '☑️ Resolved');
    await idle();
    const { stdout } = await desk.runs(['audit', 'export', '--reference', reference]);
    for (const words of ['acknowledge', 'close', desk.id('lead')]) expect(stdout).toContain(words);
  });
});

describe('a payment resolves a failure', () => {
  test('of the same customer and amount: Resolved by another payment, with the time it took, and its people are told', async () => {
    const desk = at();
    const { reference, customerEmail, alert } = await isTaken();
    await does('lead', 'Assign…', alert, { 'Assign to': desk.id('agent') });
    await direct('agent', 'Assigned to you', reference);
    desk.house.later(65 * minuteMs);
    const paid = await desk.house.approve({ amount: '5000.00', customerEmail });
    const resolved = await alertSays(reference, '✅ Resolved by another payment', paid, '1 h 5 min after');
    expect(resolved.shown.buttons).toEqual([]);
    expect(resolved.ts).toBe(alert.ts);
    await desk.reads('lead', '✅ Resolved', resolved);
    await direct('agent', '✅ Resolved', reference, '1 h 5 min');
    await direct('lead', '✅ Resolved', reference);
    expect(directsAbout('onCall', reference)).toEqual([]);
  });

  test('of the same order: Paid (confirmed), next to it', async () => {
    const { house } = at();
    const orderReference = 'ORDER-PAID-LATER';
    await house.payments.act({
      kind: 'create_order',
      amount: '50.00',
      customerEmail: newCustomer(),
      orderReference,
    });
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'declined' });
    // The service sends no failure of a first payment, but another one might.
    const order = { orderReference, amount: '50.00', currency: 'NGN' };
    await house.sendEvent({ event: 'payment_failed', data: { order } });
    await alertSays(orderReference, 'Declined by the bank');
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    const resolved = await alertSays(orderReference, '✅ Resolved: paid', 'after the failure');
    expect(resolved.shown.buttons).toEqual([]);
  });

  test('of another amount does not: the alert stays open, with a line in its thread', async () => {
    const desk = at();
    const { reference, customerEmail, alert } = await fails();
    const paid = await desk.house.approve({ amount: '75.50', customerEmail });
    await desk.reads('lead', ['Another payment, the alert stays open', 'NGN 75.50', paid], alert);
    expect((await alertSays(reference)).shown.buttons).toContain('Acknowledge');
  });

  test('of another customer does not; and a closed alert does not change', async () => {
    const desk = at();
    const { reference } = await fails();
    const closed = await isTaken();
    await does('lead', 'Resolve…', closed.alert, { Reason: 'Paid in cash' });
    await alertSays(closed.reference, '☑️ Resolved');
    await desk.house.approve({ amount: '5000.00', customerEmail: newCustomer() });
    await desk.house.approve({ amount: '5000.00', customerEmail: closed.customerEmail });
    await idle();
    expect((await alertSays(reference)).shown.text).not.toContain('Resolved');
    expect((await alertSays(closed.reference)).text).toContain('☑️ Resolved');
  });

  test('only if the look-up proves it: an event that the service does not confirm resolves nothing', async () => {
    const desk = at();
    const { reference, customerEmail } = await fails();
    const order = { orderReference: 'NEVER-PAID', amount: '5000.00', currency: 'NGN', customerEmail };
    expect(await desk.house.sendEvent({ event: 'payment_success', data: { order } })).toBe(200);
    desk.house.later(hourMs);
    await desk.reads('lead', 'NEVER-PAID', 'general');
    expect((await alertSays(reference)).shown.text).not.toContain('Resolved');
  });

  test('that came before the failure’s own event: the first post reports both, without buttons', async () => {
    const { house, settled } = at();
    house.payments.sendWebhooksTo(undefined);
    const orderReference = 'PAID-BEFORE-FAILED';
    await house.payments.act({
      kind: 'create_order',
      amount: '50.00',
      customerEmail: newCustomer(),
      orderReference,
    });
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'declined' });
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    const order = { orderReference, amount: '50.00', currency: 'NGN' };
    await house.sendEvent({ event: 'payment_success', data: { order } });
    await settled('soon');
    await house.sendEvent({ event: 'payment_failed', data: { order } });
    const alert = await alertSays(orderReference, '✅ Resolved: paid');
    expect(alert.shown.buttons).toEqual([]);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
    await settled('soon');
    expect((await alertSays(orderReference)).ts).toBe(alert.ts);
  });
});

describe('Charge again…', () => {
  test('opens the form of a card on hold if a second person may allow it; the review then asks for that', async () => {
    const desk = at();
    const { reference, alert } = await fails({ customerEmail: chidi, amount: '1235.00' });
    expect(alert.shown.buttons).toEqual(['Acknowledge', 'Charge again…', 'Look up', 'Resolve…']);
    await desk.presses('lead', 'Charge again…', alert);
    await desk.modalSays('lead', 'Charge a card');
    const review = await desk.submits('lead', {});
    expect(review?.shown.text).toContain('Card on hold until');
    expect(review?.submit).toBe('Ask for approval');
    expect((await alertSays(reference)).shown.text).not.toContain('Acknowledged');
  });

  test('is on the assignee’s direct message too, and charges from there', async () => {
    const desk = at();
    const { reference } = await isTaken({ customerEmail: 'ada.obi@example.com', amount: '1239.00' });
    desk.house.later(2 * hourMs);
    await does('onCall', 'Assign…', await alertSays(reference, 'Charge again…'), {
      'Assign to': desk.id('lead'),
    });
    const told = await direct('lead', '👤 Assigned to you', reference);
    expect(told.shown.buttons).toEqual(['Charge again…', 'Resolve…', 'Look up', 'Assign…', 'Snooze…']);
    await desk.presses('lead', 'Charge again…', told);
    await desk.modalSays('lead', 'Charge a card');
    await desk.submits('lead', { 'Saved card': '4081' });
    await desk.submits('lead');
    await alertSays(reference, '✅ Resolved', 'for this alert');
    await desk.closes('lead');
  });

  test('acknowledges the alert by charging', async () => {
    const desk = at();
    const { reference } = await fails({ customerEmail: 'ada.obi@example.com', amount: '1236.00' });
    desk.house.later(2 * hourMs);
    await desk.presses('lead', 'Charge again…', await alertSays(reference, 'Charge again…'));
    await desk.modalSays('lead', 'Charge a card');
    await desk.submits('lead', { 'Saved card': '4081' });
    const underWay = desk.house.paymentsGate.hold('/tokenized-card-payment', 'before');
    await desk.submits('lead');
    const held = await underWay;
    await alertSays(reference, '👀 Acknowledged', `Acknowledged by ${desk.named('lead')}`, 'Charging now');
    held.release();
    await alertSays(reference, '✅ Resolved', 'for this alert');
  });

  test('charges a failed charge again only once: with three people and two cards, and resolves it without any event', async ({
    onTestFinished,
  }) => {
    const desk = at();
    const { house } = desk;
    const customerEmail = 'ada.obi@example.com';
    const orderReference = 'SAVES-CARD-Y';
    await house.payments.act({ kind: 'create_order', amount: '50.00', customerEmail, orderReference });
    await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    await desk.reads('lead', ['card saved', orderReference], 'general');
    const { reference } = await isTaken({ customerEmail, amount: '4100.00' });
    house.later(2 * hourMs);
    // From here on every event is lost.
    house.payments.sendWebhooksTo(undefined);
    onTestFinished(() => house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`));
    const cardY = house.payments.state().cards.at(-1)?.cardPan.slice(-4) ?? '';
    for (const person of ['lead', 'agent', 'onCall'] as const) {
      await desk.presses(person, 'Charge again…', await alertSays(reference));
      await desk.modalSays(person, 'Charge a card');
    }
    await desk.submits('lead', { 'Saved card': '4081' });
    await desk.submits('agent', { 'Saved card': cardY });
    expect(desk.modal('lead')?.submit).toBe('Charge NGN 4,100.00');
    expect(desk.modal('agent')?.submit).toBe('Charge NGN 4,100.00');

    const charges = () =>
      house.exchanges().filter(({ path }) => path.endsWith('/tokenized-card-payment')).length;
    const before = charges();
    const underWay = house.paymentsGate.hold('/tokenized-card-payment', 'before');
    await desk.submits('lead');
    const held = await underWay;
    await desk.submits('agent');
    const refused = await desk.modalSays('agent', ['Already being charged', `<@${desk.id('lead')}>`]);
    expect(refused.submit).toBeUndefined();
    const charging = await alertSays(reference, 'Charging now');
    expect(charging.shown.buttons).not.toContain('Charge again…');
    held.release();
    await desk.modalSays('lead', 'Paid (confirmed)');
    await alertSays(reference, '✅ Resolved', 'for this alert');
    await desk.submits('onCall', { 'Saved card': '4081' });
    await desk.modalSays('onCall', 'Already resolved');
    expect(charges() - before).toBe(1);
  });
});

describe('the message of an alert', () => {
  test('is replaced after it was deleted by one that links to its old place', async () => {
    const { house, reads } = at();
    const { reference, customerEmail, alert } = await fails();
    await fetch(`${house.workspace.apiUrl}chat.delete`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${house.workspace.credentials.botToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ channel: alert.channel, ts: alert.ts }),
    });
    await house.approve({ amount: '5000.00', customerEmail });
    const replacement = await alertSays(reference, '✅ Resolved', 'Replaces');
    expect(replacement.ts).not.toBe(alert.ts);
    expect(JSON.stringify(replacement.blocks)).toContain(`/p${alert.ts.replace('.', '')}|`);
    await reads('lead', '✅ Resolved', replacement);
  });
});
