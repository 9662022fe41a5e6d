import { describe, expect, it } from 'vitest';
import { cardsHouse, failed, paidBy, recordOf } from '../cards-house.ts';

const { amountMinor: _amount, currency: _currency, ...bare } = failed;

describe.each([
  ['nothing of what was taken', {}],
  ['that nothing was taken', { amountMinor: 0 }],
])('a failed charge whose event names no amount and whose record says %s', (_what, taken) => {
  it('is told with the order’s amount, and made good by another payment of that', async () => {
    const house = cardsHouse();
    const { amountMinor: _taken, ...record } = recordOf('ORDER-1', 'FAILED');
    house.records.set('ORDER-1', {
      ...record,
      ...taken,
      orderAmountMinor: 1_250_000,
      orderCurrency: 'NGN',
    });
    await house.receive(bare);
    await house.drain();
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined by the bank · NGN 12,500.00 · /);
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(paidBy('ORDER-2'));
    await house.drain(20_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Resolved/);
  });
});
