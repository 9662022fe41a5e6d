import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { charges, reviews, shareDesk } from '../support/desk.ts';
import { noonZone } from '../support/noon-zone.ts';

const limits =
  'limits: { NGN: { per_charge: 5000.00, per_agent_per_day: 8000.00, per_card_per_day: 6000.00 } }';
const [ada, bola] = ['4081', '1127'];
const at = shareDesk({
  clock: true,
  // A token's lock and similar times end by the clock, which runs ten times as fast as connections.
  env: { PAYMENTS_TIMEOUT_SECONDS: '5' },
  payments: { knownCards: true },
  policy: (policy) =>
    policy
      .replace('roles:', `timezone: ${noonZone()}\nroles:`)
      .replace(/(support-agent:\n.*\n.*\])/, `$1\n    ${limits}`),
});

beforeAll(() => at().settled());
// Each story has its own day, and a card that is not on hold.
beforeEach(() => at().house.later(24 * 3_600_000));

describe('limits in payops.yml', () => {
  it('per charge are reported at the field before the review, with the people who may', async () => {
    const desk = at();
    const form = await reviews(desk, 'agent', { card: ada, amount: '5,000.01' });
    expect(form.problems).toEqual({
      Amount: 'This is above your limit per charge: NGN 5,000.00. Who can: people in the role lead.',
    });
    const review = await reviews(desk, 'lead', { card: ada, amount: '5,000.01' });
    expect(review.submit).toBe('Charge NGN 5,000.01');
    expect(desk.house.payments.stats().chargesByReference).toEqual({});
  });

  it('per day are shown in the Home, and count charges until midnight', async () => {
    const desk = at();
    await desk.home('agent', '· NGN 8,000.00 of NGN 8,000.00 left today');
    await reviews(desk, 'agent', { card: ada, amount: '4,500.00' });
    await desk.submits('agent');
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.home('agent', '· NGN 3,500.00 of NGN 8,000.00 left today');
    await desk.closes('agent');
    const over = await reviews(desk, 'agent', { card: bola, amount: '3,500.01' });
    expect(over.problems['Amount']).toContain('NGN 3,500.00 of NGN 8,000.00 is left until midnight');
    expect((await desk.home('lead', '/pay help')).text).not.toContain('Your limits');

    await desk.closes('agent');
    desk.house.later(24 * 3_600_000);
    await desk.home('agent', 'NGN 8,000.00 of NGN 8,000.00 left today');
  });

  it('per day of a card count everybody’s charges, and refuse a review if others used the limit meanwhile', async () => {
    const desk = at();
    await reviews(desk, 'agent', { card: ada, amount: '3,000.00' });
    // The colleague's charge is made on another replica.
    const second = desk.house.bot();
    await desk.house.start(second);
    await charges(desk, 'lead', { card: ada, amount: '4,000.00' });
    await desk.modalSays('lead', 'Paid (confirmed)');
    const charged = desk.house.payments.stats().chargesByReference;
    desk.house.workspace.connect(`${desk.bot.url()}/slack/events`);
    await second.stop();

    await desk.submits('agent');
    const refused = await desk.modalSays('agent', [
      'Not charged: above your limit',
      'This is above your limit per day for one card',
      'NGN 2,000.00 of NGN 6,000.00 is left until midnight',
      'people in the role lead',
    ]);
    expect(refused.submit).toBeUndefined();
    expect(desk.house.payments.stats().chargesByReference).toEqual(charged);
    // The refusal used nothing of the agent's own limit.
    await desk.closes('agent');
    const review = await reviews(desk, 'agent', { card: ada, amount: '2,000.00' });
    expect(review.submit).toBe('Charge NGN 2,000.00');
    await desk.home('agent', 'NGN 8,000.00 of NGN 8,000.00 left today');
    await desk.closes('agent');
    const list = await desk.opens('agent', '/pay charge');
    expect(list.fields).toContain('Saved card');
  });

  it('are released after a decline, and count charges that wait for a code, also after a restart', async () => {
    const desk = at();
    await desk.house.payments.act({ kind: 'set_next_charge', next: 'decline' });
    await charges(desk, 'agent', { card: ada, amount: '5,000.00' });
    await desk.modalSays('agent', 'Declined by the bank');
    await desk.closes('agent');
    await desk.home('agent', 'NGN 8,000.00 of NGN 8,000.00 left today');
    await charges(desk, 'agent', { card: bola, amount: '5,000.00' });
    await desk.modalSays('agent', 'of 3 tries left');
    await desk.restarts();
    await desk.closes('agent');
    const second = await reviews(desk, 'agent', { card: bola, amount: '3,000.01' });
    expect(second.problems['Amount']).toContain('NGN 3,000.00 of NGN 8,000.00 is left');
  });
});
