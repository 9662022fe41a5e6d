import { describe, expect, it } from 'vitest';
import {
  type StormItem,
  emptySummary,
  itemOf,
  summarise,
} from '../../../../src/features/alerts/storm/storm.ts';

function item(number: number, more: Partial<StormItem> = {}): StormItem {
  return { id: `a-${number}`, receivedAtMs: number, addedAtMs: number + 5, ...more };
}

describe('what the failures of a storm come to', () => {
  it('counts reasons, sums each currency in minor units, and keeps first and last', () => {
    const items = [
      item(30, { reason: 'Insufficient funds', amountMinor: 100, currency: 'NGN' }),
      item(10, { reason: ' Insufficient funds ', amountMinor: 250, currency: 'NGN' }),
      item(20, { reason: 'Do not honour', amountMinor: 7, currency: 'USD' }),
      item(40, { amountMinor: 9 }),
    ];
    expect(items.reduce(summarise, emptySummary)).toEqual({
      reasons: [
        { reason: 'Insufficient funds', count: 2 },
        { reason: 'Do not honour', count: 1 },
      ],
      otherReasons: 0,
      noReason: 1,
      sums: [
        { minor: 350, currency: 'NGN', count: 2 },
        { minor: 7, currency: 'USD', count: 1 },
      ],
      unsummed: 1,
      firstMs: 10,
      lastMs: 40,
      lastAddedMs: 45,
      lately: [15, 25, 45],
    });
  });

  it('stays small and exact whatever the events say, and counts each item somewhere', () => {
    const items = Array.from({ length: 1_000 }, (_, index) =>
      item(index, {
        reason: `Reason ${index} ${'x'.repeat(5_000)}`,
        amountMinor: Number.MAX_SAFE_INTEGER,
        currency: `C${index % 20}`,
      }),
    );
    const summary = items.reduce(summarise, emptySummary);
    expect(JSON.stringify(summary).length).toBeLessThan(10_000);
    expect(summary.reasons.reduce((sum, { count }) => sum + count, summary.otherReasons)).toBe(1_000);
    expect(summary.sums.every(({ minor }) => Number.isSafeInteger(minor))).toBe(true);
    expect(summary.sums.length + summary.unsummed).toBe(1_000);
  });

  it('takes from an event what a list shows, and no token or transaction id', () => {
    const event = {
      kind: 'payment_failed',
      key: 'payment_failed/order/O-1',
      orderReference: 'O-1',
      transactionId: 'secret',
      customerEmail: 'a@b.example',
      amountMinor: 5,
      currency: 'NGN',
      reason: 'No',
    } as const;
    const made = itemOf(event, { receivedAtMs: 1, addedAtMs: 2 });
    expect(made).toMatchObject({ id: 'payment_failed/order/O-1', reference: 'O-1', amountMinor: 5 });
    expect(JSON.stringify(made)).not.toContain('secret');
  });
});
