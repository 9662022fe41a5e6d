import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { charges, shareDesk, type Message } from '../support/desk.ts';

// Where an alert and a charge are about the same money: each says the same, and neither is left alone with the other's end.

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const at = shareDesk({
  clock: true,
  env: { PAYMENTS_TIMEOUT_SECONDS: '5', CHARGE_TWIN_MINUTES: '0' },
  payments: { knownCards: true },
  policy: (policy) => policy.replace('    - { what: retry }\n', ''),
});

beforeAll(() => at().settled());
// A day of its own for each story, so that no card is on hold after the story before.
beforeEach(() => at().house.later(dayMs + minuteMs));

const bola = '1127';

/** The newest that this alert says in its channel, once it has the words. */
function alertSays(reference: string, ...words: string[]): Promise<Message> {
  return at().reads('lead', [reference, ...words], 'payAlerts');
}

/** Resolves once the service has sent the failure of this charge, and nothing is left to be told of it. */
async function failureIsSent(reference: string): Promise<void> {
  const { house } = at();
  const sent = () =>
    house.payments
      .state()
      .deliveries.filter((one) => one.orderReference === reference && one.state === 'delivered');
  await house.until('the failure is sent', () => sent().length > 0);
  await at().settled('soon');
}

function alertsOf(reference: string): string[] {
  return at()
    .posts('lead', 'payAlerts')
    .map(({ text }) => text)
    .filter((text) => text.includes(reference));
}

describe('a charge of the bot’s own that fails', () => {
  it('whose code runs out is told by its own message alone: Expired, and a look-up says the same', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: bola, amount: '1500.00' });
    await desk.modalSays('agent', 'Needs OTP');
    desk.house.later(15 * minuteMs + 1_000);
    await failureIsSent(reference);
    await desk.modalSays('agent', ['⌛ Expired', 'No code was accepted in time', 'charge again if']);
    expect(alertsOf(reference)).toEqual([]);
    const looked = await desk.asks('agent', `/pay ${reference}`, reference);
    expect(looked.shown.text).toContain('⌛ Expired');
    expect(looked.shown.text).toContain('charge again if the customer still wants it');
    expect(looked.shown.text).not.toContain('Declined');
  });

  it('whose code was wrong three times is told by its own message alone', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: bola, amount: '1600.00' });
    await desk.modalSays('agent', 'Needs OTP');
    for (const code of ['999991', '999992', '999993'])
      await desk.submits('agent', { 'Code from the bank': code });
    await desk.modalSays('agent', ['🚫 Code wrong three times', 'check the customer’s phone']);
    desk.house.later(15 * minuteMs + 1_000);
    await failureIsSent(reference);
    expect(alertsOf(reference)).toEqual([]);
    const looked = await desk.asks('agent', `/pay ${reference}`, reference);
    expect(looked.shown.text).toContain('🚫 Code wrong three times');
    expect(looked.shown.text).toContain('check the customer’s phone, then charge again');
  });

  it('by the bank is told by its own message alone, and counted in no list of open alerts', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: '6640', amount: '1700.00' });
    await desk.modalSays('agent', '❌ Declined by the bank');
    await failureIsSent(reference);
    expect(alertsOf(reference)).toEqual([]);
  });

  it('has an alert where its event says otherwise: it is paid', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: '4081', amount: '1800.00' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    const order = { orderReference: reference, amount: '1800.00', currency: 'NGN' };
    await desk.house.sendEvent({ event: 'payment_failed', data: { order } });
    await alertSays(reference, '✅ Resolved · Paid (confirmed)');
  });
});

describe('a failure whose card is on hold, where nobody may decide to charge it sooner', () => {
  it('offers a payment link, filled in, until the hold ends; then Charge again…', async () => {
    const desk = at();
    const reference = await desk.house.decline({
      customerEmail: 'chidi.eze@example.com',
      amount: '1900.00',
    });
    const alert = await alertSays(reference, 'Acknowledge');
    expect(alert.shown.buttons).toEqual(['Acknowledge', 'Look up', 'Close…']);
    await desk.presses('lead', 'Acknowledge', alert);
    const taken = await alertSays(reference, '👀 Acknowledged', 'Payment link');
    expect(taken.shown.buttons).toEqual(['Payment link', 'Close…', 'Look up', 'Assign…', 'Snooze…']);
    await desk.presses('lead', 'Payment link', taken);
    await desk.modalSays('lead', 'The customer pays on the payments service’s page');
    await desk.submits('lead');
    await desk.modalSays('lead', ['🔗 Payment link', 'NGN 1,900.00 · c***@example.com']);
    await desk.closes('lead');
    desk.house.later(dayMs);
    await alertSays(reference, 'Charge again…');
  });
});
