import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import type { NextCharge } from '../../src/simulators/protocol.ts';
import { charges, referenceIn, reviews, shareDesk } from '../support/desk.ts';

const hourMs = 3_600_000;
const at = shareDesk({
  clock: true,
  payments: { knownCards: true },
  // A token's lock and similar times end by the clock, which runs ten times as fast as connections.
  env: { PAYMENTS_TIMEOUT_SECONDS: '5', CHARGE_RETRY_ATTEMPTS: '10' },
  // No rule allows a card on hold or a large charge with approval.
  policy: (policy) => policy.replace(/approvals:\n(.*\n)*/, ''),
});

const [ada, bola, chidi, dayo] = ['4081', '1127', '6640', '9018'];

beforeAll(() => at().settled());
// Each story has its own day: holds and limits of the story before are over.
beforeEach(() => at().house.later(25 * hourMs));

const taken = (reference: string): number => at().house.payments.stats().chargesByReference[reference] ?? 0;

async function orderNext(next: NextCharge, reason?: string): Promise<void> {
  await at().house.payments.act({
    kind: 'set_next_charge',
    next,
    ...(reason === undefined ? {} : { reason }),
  });
}

describe('/pay charge', () => {
  it('charges a saved card, chosen by its last four digits, on exactly the reviewed terms, and is Paid with its proof', async () => {
    const desk = at();
    const form = await desk.opens('agent', '/pay charge 12,500.00');
    expect(form.title).toBe('Charge a card');
    const review = await desk.submits('agent', { 'Saved card': ada ?? '', Reason: 'Renewal' });
    expect(review?.shown.text).toContain('Charge NGN 12,500.00 to Mastercard ·· 4081 of ada.obi@example.com');
    expect(review?.shown.text).toContain('Reason Renewal');
    expect(review?.shown.text).toContain('Nothing sent yet');
    expect(review?.shown.text).toContain('LIVE · Lagos store');
    expect(review?.submit).toBe('Charge NGN 12,500.00');
    const before = desk.house.payments.stats().chargesByReference;

    await desk.submits('agent');
    const paid = await desk.modalSays('agent', [
      '✅ Paid (confirmed) · NGN 12,500.00 · a***@example.com',
      'proven checked',
    ]);
    const reference = referenceIn(paid.shown.text);
    expect(desk.house.payments.stats().chargesByReference).toEqual({ ...before, [reference]: 1 });
    await desk.sees('onCall', ['✅ Paid (confirmed)', reference], 'payDesk');
  });

  it('begins at the review if amount and e-mail suffice, and otherwise asks only for the rest', async () => {
    const desk = at();
    const review = await desk.opens('agent', '/pay charge 300 bola.ade@example.com');
    expect(review.shown.text).toContain('Charge NGN 300.00 to Visa ·· 1127 of bola.ade@example.com');
    expect(review.submit).toBe('Charge NGN 300.00');
    const asked = await desk.submits('agent');
    const reference = referenceIn(asked?.shown.text ?? '');
    await desk.modalSays('agent', 'Needs a code');
    await desk.submits('agent', { 'Code from the bank': rightOtp });
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    expect(taken(reference)).toBe(1);
    await desk.closes('agent');
    const form = await desk.opens('agent', '/pay charge bola.ade@example.com');
    expect(form.shown.text).toContain('Visa ·· 1127');
    expect(form.fields).toContain('Amount');
    await desk.closes('agent');
    const unknown = await desk.opens('agent', '/pay charge 300 nobody@example.com');
    expect(unknown.shown.text).toContain('knows no saved card of that e-mail');
    await desk.closes('agent');
    await desk.asks('agent', '/pay charge 300 nobody@', 'That isn’t an e-mail address');
    await desk.asks('agent', '/pay charge 300 bola.ade@example.com now', 'at most an amount and an e-mail');
  });

  it('charges a card whose token key is pasted, and reports every problem at its field', async () => {
    const desk = at();
    await desk.opens('agent', '/pay charge');
    const number = { 'Or the card’s token key': '5555 5555 5555 4444', Amount: '1.00' };
    const refused = await desk.submits('agent', number);
    expect(refused?.problems).toEqual({
      'Or the card’s token key': expect.stringContaining('card number') as string,
    });
    const wrong = await desk.submits('agent', { 'Or the card’s token key': 'tok-ada', Amount: '12,50' });
    expect(wrong?.problems).toEqual({
      Amount: expect.stringContaining('the point separates decimals: 12.50.') as string,
      'Customer’s e-mail': expect.stringContaining('Needed') as string,
    });
    const review = await desk.submits('agent', {
      'Or the card’s token key': 'tok-ada-approves',
      'Customer’s e-mail': 'ada.obi@example.com',
      Amount: '12.50',
      'Customer id': 'CUST-17',
    });
    expect(review?.shown.text).toContain('Customer id CUST-17');
    await desk.submits('agent');
    await desk.modalSays('agent', 'Paid (confirmed)');
  });

  it('reports a wrong amount and a wrong e-mail for the chosen card at once', async () => {
    const desk = at();
    await desk.opens('agent', '/pay charge');
    const wrong = await desk.submits('agent', {
      'Saved card': '4081',
      'Customer’s e-mail': 'other@example.com',
      Amount: '12,5',
    });
    expect(wrong?.problems).toEqual({
      Amount: expect.any(String) as string,
      'Customer’s e-mail': expect.stringContaining('saved with a***@example.com') as string,
    });
    await desk.closes('agent');
  });

  it('refuses a press in a form with a card number, and stores it nowhere', async () => {
    const desk = at();
    await desk.opens('agent', '/pay charge 17.50');
    await desk.fills('agent', { Reason: 'their card is 5555 5555 5555 4444' });
    await desk.presses('agent', 'More fields');
    await desk.modalSays('agent', 'looks like a card number');
    expect(await desk.kept({ pan: '5555 5555 5555 4444', compact: '5555555555554444' })).toEqual([]);
    await desk.closes('agent');
  });

  it('asks for card, amount and reason; for the rest on demand, and keeps what was filled in', async () => {
    const desk = at();
    const form = await desk.opens('agent', '/pay charge 17.50');
    expect(form.fields).toEqual(['Saved card', 'Amount', 'Reason']);
    const typed = {
      'Or the card’s token key': 'tok-ada-approves',
      'Customer’s e-mail': 'ada.obi@example.com',
    };
    const review = await desk.submits('agent', typed);
    expect(review?.submit).toBe('Charge NGN 17.50');
    await desk.closes('agent');
  });

  it('returns to the filled-in form with Change, and charges the changed terms', async () => {
    const desk = at();
    await reviews(desk, 'agent', { card: ada, amount: '100.00' });
    await desk.presses('agent', 'Change');
    await desk.modalSays('agent', 'You review it before anything is charged');
    const review = await desk.submits('agent', { Amount: '200.00' });
    expect(review?.submit).toBe('Charge NGN 200.00');
    expect(review?.shown.text).toContain('Mastercard ·· 4081');
  });

  it('sends nothing on a review that has expired', async () => {
    const desk = at();
    await reviews(desk, 'agent', { card: ada, amount: '300.00' });
    desk.house.later(31 * 60_000);
    const after = await desk.submits('agent');
    expect(after?.shown.text).toContain('⌛ This review has expired');
    expect(after?.submit).toBeUndefined();
  });

  it('reports the outcome by direct message if the window is closed', async () => {
    const desk = at();
    await reviews(desk, 'agent', { card: ada, amount: '400.00' });
    const answer = desk.house.paymentsGate.hold('/v1/checkout/tokenized-card-payment', 'before');
    const window = await desk.submits('agent');
    expect(window?.shown.text).toContain('You may close this');
    const held = await answer;
    await desk.closes('agent');
    held.release();
    await desk.sees('agent', ['✅ Paid (confirmed)', 'NGN 400.00'], 'agentDm');
  });

  it('asks before the same card and amount within ten minutes, and names who did the first', async () => {
    const desk = at();
    const first = await charges(desk, 'lead', { card: ada, amount: '500.00' });
    await desk.modalSays('lead', 'Paid (confirmed)');
    const review = await reviews(desk, 'agent', { card: ada, amount: '500.00' });
    expect(review.shown.text).toContain(first);
    expect(review.shown.text).toContain(`by <@${desk.id('lead')}> (Paid)`);
    expect(review.submit).toBe('Charge again NGN 500.00');
    await desk.submits('agent');
    const again = await desk.modalSays('agent', 'Paid (confirmed)');
    expect(referenceIn(again.shown.text)).not.toBe(first);
  });

  it('asks about charges made while the review was open, however long', async () => {
    const desk = at();
    const review = await reviews(desk, 'agent', { card: ada, amount: '510.00' });
    expect(review.submit).toBe('Charge NGN 510.00');
    const first = await charges(desk, 'lead', { card: ada, amount: '510.00' });
    await desk.modalSays('lead', 'Paid (confirmed)');
    desk.house.later(12 * 60_000);
    await desk.submits('agent');
    const asked = await desk.modalSays('agent', ['Charge a second time?', first]);
    expect(asked.submit).toBe('Charge again NGN 510.00');
    await desk.submits('agent');
    const again = await desk.modalSays('agent', 'Paid (confirmed)');
    expect(referenceIn(again.shown.text)).not.toBe(first);
  });

  it('does not start a charge again that is still open, but shows it', async () => {
    const desk = at();
    const first = await charges(desk, 'agent', { card: bola, amount: '600.00' });
    await desk.modalSays('agent', 'of 3 tries left');
    const review = await reviews(desk, 'lead', { card: bola, amount: '600.00' });
    expect(review.submit).toBeUndefined();
    expect(review.shown.text).toContain(`Another charge of this card is still open: <@${desk.id('agent')}>`);
    await desk.presses('lead', 'Show it');
    await desk.modalSays('lead', ['Needs a code', first]);
  });

  it('is refused without the permission, and without an amount', async () => {
    const desk = at();
    await desk.asks('onCall', '/pay charge', 'Not allowed: /pay charge');
    await desk.asks('agent', '/pay charge lots', 'amount');
    expect(desk.modal('onCall') ?? desk.modal('agent')).toBeUndefined();
  });
});

describe('a charge that the bank declines', () => {
  it.each([
    ['Insufficient funds', ['try again from', 'or use another card'], []],
    ['Do not honour', ['ask the customer for another card'], ['Choose another card']],
    ['Suspected fraud', ['don’t try again', 'ask their bank'], []],
    ['Invalid OTP', ['check the customer’s phone, then charge again from'], []],
    ['No reason', ['Card on hold until', 'attempts left'], []],
  ])('“%s” says the next step by the bank’s words', async (words, next, buttons) => {
    const desk = at();
    await orderNext('decline', words);
    const reference = await charges(desk, 'agent', { card: ada, amount: '1,000.00' });
    const shown = await desk.modalSays('agent', [
      '❌ Declined by the bank',
      `The bank says: ${words}`,
      'No money taken',
      ...next,
    ]);
    expect(shown.shown.buttons).toEqual(buttons);
    expect(taken(reference)).toBe(0);
    await desk.sees('onCall', ['❌ Declined by the bank', reference, words], 'payDesk');
  });

  it('leads from a refused card to the form, to choose another', async () => {
    const desk = at();
    await orderNext('decline', 'Do not honour');
    await charges(desk, 'agent', { card: ada, amount: '1,100.00' });
    await desk.modalSays('agent', 'Declined by the bank');
    await desk.presses('agent', 'Choose another card');
    await desk.modalSays('agent', 'You review it before anything is charged');
    const review = await desk.submits('agent', { 'Saved card': bola ?? '' });
    expect(review?.submit).toBe('Charge NGN 1,100.00');
  });

  it('makes the card wait a day on every path, as the list and the review say, and then charges it', async () => {
    const desk = at();
    await charges(desk, 'agent', { card: chidi, amount: '1,200.00' });
    await desk.modalSays('agent', 'Declined by the bank');
    await desk.closes('agent');
    const review = await reviews(desk, 'lead', { card: chidi, amount: '1,201.00' });
    expect(review.shown.text).toContain('Card on hold until');
    expect(review.submit).toBeUndefined();
    const pasted = { token: 'tok-chidi-declines', email: 'chidi.eze@example.com', amount: '1,202.00' };
    expect((await reviews(desk, 'agent', pasted)).submit).toBeUndefined();
    desk.house.later(24 * hourMs);
    await orderNext('approve');
    await charges(desk, 'agent', { card: chidi, amount: '1,203.00' });
    await desk.modalSays('agent', 'Paid (confirmed)');
  });

  it('for 3-D Secure offers a payment link that saves the card, and charges that card no more', async () => {
    const desk = at();
    await charges(desk, 'agent', { card: dayo, amount: '1,300.00' });
    await desk.modalSays('agent', ['Declined by the bank', 'send a payment link']);
    await desk.presses('agent', 'Payment link');
    await desk.modalSays('agent', 'The customer pays on the payments service’s page');
    await desk.submits('agent');
    await desk.modalSays('agent', ['🔗 Payment link', '/checkout/', 'NGN 1,300.00 · d***@example.com']);
    await desk.closes('agent');
    await desk.closes('agent');
    const review = await reviews(desk, 'agent', { card: dayo, amount: '1,301.00' });
    expect(review.shown.text).toContain('This card can’t be charged');
    expect(review.submit).toBeUndefined();
    await desk.presses('agent', 'Payment link');
    await desk.modalSays('agent', 'The customer pays on the payments service’s page');
    await desk.submits('agent');
    await desk.modalSays('agent', ['🔗 Payment link', 'NGN 1,301.00 · d***@example.com']);
  });
});

describe('a charge that the service rejects: Not charged, with the reason', () => {
  it.each([
    ['1,000.14', 'Card payments aren’t switched on', undefined],
    ['1,000.15', 'The merchant is under review', 'Correct and try again'],
    ['1,000.16', 'The service doesn’t let this account charge', undefined],
    ['1,000.17', 'The service calls the e-mail invalid', 'Correct and try again'],
    ['1,000.18', 'check amount and e-mail', 'Correct and try again'],
  ])('NGN %s: %s', async (amount, why, again) => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: ada, amount });
    const shown = await desk.modalSays('agent', ['⛔ Not charged: ', why, 'No money moved']);
    expect(shown.shown.buttons).toEqual(again === undefined ? [] : [again]);
    expect(taken(reference)).toBe(0);
  });

  it('for an unknown token: another card is chosen', async () => {
    const desk = at();
    await charges(desk, 'agent', { token: 'tok-nobody', email: 'ada.obi@example.com', amount: '1,400.00' });
    const unknown = await desk.modalSays('agent', [
      '⛔ Not charged: card not known',
      'doesn’t know this card',
    ]);
    expect(unknown.shown.buttons).toEqual(['Choose another card', 'Payment link']);
    await desk.presses('agent', 'Choose another card');
    await desk.modalSays('agent', 'You review it before anything is charged');
    const review = await desk.submits('agent', { 'Saved card': ada ?? '' });
    expect(review?.submit).toBe('Charge NGN 1,400.00');
  });

  it('for another e-mail of the card: it is corrected', async () => {
    const desk = at();
    await charges(desk, 'agent', { token: 'tok-bola-otp', email: 'bola@example.com', amount: '1,500.00' });
    const shown = await desk.modalSays('agent', [
      '⛔ Not charged: wrong e-mail',
      'saved with another e-mail',
    ]);
    expect(shown.shown.buttons).toEqual(['Correct and try again']);
    await desk.presses('agent', 'Correct and try again');
    const form = await desk.modalSays('agent', 'You review it before anything is charged');
    expect(form.fields).toContain('Saved card');
  });

  it('opens the correction for a colleague without the e-mail, which they see masked', async () => {
    const desk = at();
    const email = 'bola.typed@example.com';
    const reference = await charges(desk, 'agent', { token: 'tok-bola-otp', email, amount: '1,501.00' });
    await desk.modalSays('agent', 'saved with another e-mail');
    await desk.presses('agent', 'Correct and try again');
    const own = await desk.modalSays('agent', 'You review it before anything is charged');
    expect(JSON.stringify(own)).toContain(email);
    await desk.opens('lead', `/pay otp ${reference}`);
    await desk.presses('lead', 'Correct and try again');
    const theirs = await desk.modalSays('lead', 'You review it before anything is charged');
    expect(JSON.stringify(theirs)).not.toContain(email);
  });

  it.each([
    ['unauthorized', 'The service refused the bot’s access token'],
    ['rate_limited', 'The service’s call limit was reached'],
  ] as const)('as it is %s, and charges nothing', async (weather, why) => {
    const desk = at();
    await reviews(desk, 'agent', { card: ada, amount: '1,600.00' });
    await desk.house.payments.act({ kind: 'set_mode', mode: weather });
    await desk.submits('agent');
    const shown = await desk.modalSays('agent', [why, 'No money moved']);
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
    expect(taken(referenceIn(shown.shown.text))).toBe(0);
  });
});

describe('a charge whose outcome is unknown', () => {
  it('is In doubt, checking, and then Paid (confirmed) without a person, charged once', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: ada, amount: '2,000.09' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    expect(taken(reference)).toBe(1);
  });

  it('is sent again under the same reference if it never arrived', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: ada, amount: '2,000.08' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    expect(taken(reference)).toBe(1);
  });

  it('is listed in /pay doubt and the Home, looked up at once with Look up, and never called failed', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: ada, amount: '2,000.19' });
    await desk.modalSays('agent', ['❔ In doubt, checking', 'Money may have moved', 'Do not charge again']);
    await desk.closes('agent');
    await desk.sees('onCall', ['In doubt, checking', reference, 'Do not charge again'], 'payDesk');
    const list = await desk.asks('onCall', '/pay doubt', reference);
    expect(list.shown.text).toContain('charge in doubt');
    expect(list.shown.text).toContain(`By: <@${desk.id('agent')}>`);
    expect((await desk.home('agent', reference)).text).toContain('In doubt');
    // No event comes, and the bot's next look-up is minutes away.
    desk.house.sendEventsTo([]);
    const lookUps = desk.calls('/v1/transactions/accounts/single');
    desk.house.later(8 * 60_000);
    await desk.house.until('it has looked', () => desk.calls('/v1/transactions/accounts/single') > lookUps);
    await desk.house.payments.act({ kind: 'pay_order', orderReference: reference, outcome: 'approved' });
    await desk.presses('onCall', 'Look up', list);
    await desk.sees('onCall', ['✅ Paid (confirmed)', reference], 'payDesk');
    const menu = await desk.asks('onCall', '/pay', 'looks a payment up');
    const rest = await desk.seesBy('onCall', ['doubt', 'checked'], () =>
      desk.presses('onCall', 'Doubts', menu),
    );
    expect(rest.shown.text).not.toContain(reference);
    await desk.sees('agent', ['✅ Paid (confirmed)', reference], 'agentDm');
    expect(taken(reference)).toBe(1);
    desk.house.sendEventsTo([desk.bot]);
  });

  it('is Approved, confirming until the look-up proves it', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: ada, amount: '2,000.13' });
    await desk.modalSays('agent', ['🕓 Approved, confirming', 'Don’t deliver yet']);
    await desk.modalSays('agent', ['Paid (confirmed)', reference]);
    const pending = desk.house.paymentsGate.passed.filter(
      ({ answer }) => answer.includes(reference) && answer.includes('"PENDING"'),
    );
    expect(pending).toHaveLength(2);
    expect(taken(reference)).toBe(1);
  });

  it('Needs review if another amount was taken than agreed', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: ada, amount: '2,000.12' });
    const told = ['🚨 Needs review', 'Do not charge again, and don’t deliver', reference];
    const shown = await desk.modalSays('agent', told);
    expect(shown.shown.buttons).toEqual(['Look up']);
  });

  it('is Expired if nothing proves it within 16 minutes, and corrected by a late success', async () => {
    const desk = at();
    const reference = await charges(desk, 'agent', { card: ada, amount: '2,100.19' });
    await desk.modalSays('agent', 'In doubt, checking');
    await desk.closes('agent');
    desk.house.later(17 * 60_000);
    const expired = await desk.sees(
      'agent',
      ['⌛ Expired', reference, 'Safe to charge again; the bot checks once more tomorrow'],
      'agentDm',
    );
    await desk.presses('agent', 'Charge again', expired);
    await desk.modalSays('agent', 'You review it before anything is charged');
    expect((await desk.submits('agent'))?.submit).toBe('Charge NGN 2,100.19');
    await desk.house.payments.act({ kind: 'pay_order', orderReference: reference, outcome: 'approved' });
    const told = await desk.sees('agent', ['✅ Paid (confirmed)', reference], 'agentDm');
    expect(told.shown.text).toContain('Correction: earlier you were told “Expired”');
    expect(taken(reference)).toBe(1);
  });
});
