import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { charges, shareDesk } from '../support/desk.ts';

// Slack's reported faults with a modal that replaces another: untouched initial values come back empty, and the first
// submission has the previous modal's state. Neither a typed value nor a try of a code may be lost silently.
const at = shareDesk({
  clock: true,
  workspace: { quirks: { untouchedInitialsAreNull: true, firstSubmissionIsOld: true } },
  payments: { knownCards: true },
  env: { PAYMENTS_TIMEOUT_SECONDS: '5', CHARGE_CURRENCIES: 'NGN,USD' },
});
const [ada, bola, chidi] = ['4081', '1127', '6640'];
const unsent = 'Slack sent this form without what you typed: send it once more.';
const unsentShown = 'Slack sent this form without what stands here. Fill it in again and send it once more.';
const unsentOptional = 'Slack sent this field empty. Fill it in again, or send once more to leave it empty.';

const code = (digits: string) => ({ 'Code from the bank': digits });

beforeAll(() => at().settled());
beforeEach(() => at().house.later(25 * 3_600_000));

describe('a Slack that loses a modal’s values', () => {
  it('makes the charge form ask for each missing value, and the bot uses the values entered then', async () => {
    const desk = at();
    await desk.opens('agent', '/pay charge');
    await desk.fills('agent', { 'Saved card': ada, Amount: '17.50', Currency: 'USD', Reason: 'Renewal' });
    await desk.presses('agent', 'More fields');
    const whole = await desk.modalSays('agent', ['Customer id', 'Mastercard ·· 4081']);
    for (const typed of ['17.50', 'USD', 'Renewal']) expect(JSON.stringify(whole.blocks)).toContain(typed);
    // The state of the short form, which lacks these fields.
    const first = await desk.submitsOnce('agent', { 'Customer id': 'CUST-17' });
    expect(first?.problems).toEqual({ Amount: unsentShown, Currency: unsentShown });
    // Untouched prefilled values come back empty.
    const second = await desk.submitsOnce('agent', { Amount: '17.50', Currency: 'USD' });
    expect(second?.problems).toEqual({ 'Saved card': unsentOptional, Reason: unsentOptional });
    const review = await desk.submitsOnce('agent', { 'Saved card': ada, Reason: 'Renewal' });
    expect(review?.submit).toBe('Charge USD 17.50');
    expect(review?.shown.text).toContain('4081 of ada.obi@example.com');
    expect(review?.shown.text).toContain('Reason Renewal');
    expect(review?.shown.text).toContain('Customer id CUST-17');
    await desk.closes('agent');
  });

  it('wastes no try of a code, and the bot sends each code once', async () => {
    const desk = at();
    await charges(desk, 'agent', { card: bola, amount: '100.00' });
    await desk.modalSays('agent', '3 of 3 tries left');
    for (const [digits, left] of [
      ['999991', '2 of 3 tries left'],
      ['999992', '1 of 3 tries left'],
    ] as const) {
      const first = await desk.submitsOnce('agent', code(digits));
      expect(first?.problems).toEqual(code(unsent));
      await desk.submitsOnce('agent', code(digits));
      await desk.modalSays('agent', ['Wrong code', left]);
    }
    await desk.submitsOnce('agent', code(rightOtp));
    expect(desk.modal('agent')?.problems).toEqual(code(unsent));
    await desk.submitsOnce('agent', code(rightOtp));
    await desk.modalSays('agent', 'Paid (confirmed)');
    expect(desk.calls('checkout-card-otp')).toBe(3);
  });

  it('does not take an override’s reason as missing', async () => {
    const desk = at();
    await charges(desk, 'agent', { card: chidi, amount: '100.00' });
    await desk.modalSays('agent', 'Declined by the bank');
    await desk.closes('agent');
    await desk.opens('agent', '/pay charge');
    const review = await desk.submits('agent', { 'Saved card': chidi, Amount: '100.00' });
    expect(review?.submit).toBe('Ask for approval');
    const first = await desk.submitsOnce('agent', { 'Why now': 'The limit was raised' });
    expect(first?.problems).toEqual({ 'Why now': unsent });
    await desk.submitsOnce('agent');
    await desk.modalSays('agent', 'Needs approval');
    await desk.sees('lead', ['Needs approval', 'The limit was raised']);
  });
});
