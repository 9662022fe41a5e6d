import { describe, expect, it } from 'vitest';
import { shareDesk } from '../support/desk.ts';

const at = shareDesk({ payments: { knownCards: true } });

describe('/pay charge', () => {
  it('charges a saved card, chosen by its last four digits, on the exact terms read back, and is Paid with its proof', async () => {
    const desk = at();
    await desk.house.cardsKnown();
    const form = await desk.opens('agent', '/pay charge 12,500.00');
    expect(form.title).toBe('Charge a card · LIVE');
    const review = await desk.submits('agent', { 'Saved card': '4081' });
    expect(review?.shown.text).toContain('Charge NGN 12,500.00 to Mastercard ·· 4081 of ada.obi@example.com');
    expect(review?.shown.text).toContain('Nothing sent yet');
    expect(review?.submit).toBe('Charge NGN 12,500.00');
    expect(desk.house.payments.stats().chargesByReference).toEqual({});

    await desk.submits('agent');
    const paid = await desk.modalSays('agent', [
      '✅ Paid (confirmed) · NGN 12,500.00',
      '✓ Status is SUCCESS',
    ]);
    const reference = /pay-\w+/.exec(paid.shown.text)?.[0] ?? '';
    expect(desk.house.payments.stats().chargesByReference).toEqual({ [reference]: 1 });
    await desk.sees('onCall', ['✅ Paid (confirmed)', reference], 'payDesk');
  });
});
