import { expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { createTally, sumWords } from '../../../src/features/alerts/tally.ts';

function tallyOf(events: readonly Partial<PaymentEvent>[]) {
  const tally = createTally();
  for (const event of events) tally.add({ kind: 'payment_failed', key: 'k', ...event });
  return tally.total();
}

it('counts reasons regardless of case, and sums each currency in minor units', () => {
  const events = [
    { reason: 'Do not honour', amountMinor: 7, currency: 'USD' },
    { reason: 'Insufficient funds', amountMinor: 100, currency: 'NGN' },
    { reason: ' insufficient FUNDS ', amountMinor: 250, currency: 'NGN' },
    { amountMinor: 9 },
  ];
  expect(tallyOf(events)).toEqual({
    count: 4,
    sums: [
      { minor: 350, currency: 'NGN' },
      { minor: 7, currency: 'USD' },
    ],
    moreCurrencies: 0,
    unsummed: 1,
    reasons: [
      { reason: 'Insufficient funds', count: 2 },
      { reason: 'Do not honour', count: 1 },
    ],
    otherReasons: 0,
    noReason: 1,
  });
  expect(sumWords(tallyOf(events), 1)).toEqual(['NGN 3.50', '1 more currency']);
});

it('stays small and exact for any events, and counts each one', () => {
  const events = Array.from({ length: 1_000 }, (_, index) => ({
    reason: `Reason ${index} ${'x'.repeat(5_000)}`,
    amountMinor: Number.MAX_SAFE_INTEGER,
    currency: `C${index % 20}`,
  }));
  const total = tallyOf(events);
  expect(JSON.stringify(total).length).toBeLessThan(2_000);
  expect(total.reasons.reduce((sum, { count }) => sum + count, total.otherReasons)).toBe(1_000);
  expect(total.sums.every(({ minor }) => Number.isSafeInteger(minor))).toBe(true);
  expect(total.sums.length + total.moreCurrencies + total.unsummed).toBe(1_000);
});
