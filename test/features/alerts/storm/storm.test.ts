import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../../src/domain/payment-event.ts';
import {
  type Storm,
  type StormEvent,
  type StormItem,
  emptySummary,
  isNews,
  newStorm,
  settleMs,
  stepStorm,
  summarise,
} from '../../../../src/features/alerts/storm/storm.ts';

const windowMs = 300_000;
const paceMs = 5_000;

function item(atMs: number, more: Partial<PaymentEvent> = {}): StormItem {
  const event = { kind: 'payment_failed', key: `alert-${atMs}`, ...more } as const;
  return { event, receivedAtMs: atMs, addedAtMs: atMs + 5, isConfirmed: false };
}

/** Each a second after the one before it. */
function counted(count: number, fromMs = 0): StormEvent {
  const items = Array.from({ length: count }, (_, index) => item(fromMs + index * 1_000));
  const summary = items.reduce(summarise, emptySummary);
  return { kind: 'counted', counted: { count, recovered: 0, summary }, paceMs, windowMs };
}

/** Counted at these times, each time so many. */
function after(...counts: readonly (readonly [count: number, nowMs: number, fromMs?: number])[]): Storm {
  return counts.reduce<Storm>(
    (storm, [count, nowMs, fromMs]) => stepStorm(storm, counted(count, fromMs), nowMs) ?? storm,
    newStorm(0, ''),
  );
}

const stirred: StormEvent = { kind: 'stirred' };

describe('a storm', () => {
  it('has news once the first alert is on its list, and when there are more', () => {
    const three = after([3, 1_000]);
    const same = stepStorm(three, counted(3), 6_000) ?? three;
    const four = stepStorm(same, counted(4), 11_000) ?? same;
    expect([isNews(after(), three), isNews(three, same), isNews(same, four)]).toEqual([true, false, true]);
  });

  it('is counted twice more after the last news, then at its end, and sooner if something stirs', () => {
    const once = after([3, 1_000]);
    expect([once.lookAtMs, stepStorm(once, stirred, 1_001)]).toEqual([6_000, undefined]);
    expect(after([3, 1_000], [3, 6_000]).lookAtMs).toBe(11_000);
    const quiet = after([3, 1_000], [3, 6_000], [3, 11_000]);
    expect(quiet.lookAtMs).toBe(windowMs + 5);
    expect(stepStorm(quiet, stirred, 20_000)?.lookAtMs).toBe(21_000);
  });

  it('ends when fewer than three have come for a window, and takes in no more groups then', () => {
    expect(after([3, 299_999])).not.toHaveProperty('endedMs');
    const over = after([3, 300_005]);
    expect(over).toMatchObject({ endedMs: 300_005 });
    expect(after([5, 300_000, 100_000])).not.toHaveProperty('endedMs');
    expect(stepStorm(over, { kind: 'joined', group: 'vip' }, 300_006)).toBeUndefined();
  });

  it('is counted two minutes after its end, and then rests until a payment resolves one of it', () => {
    const over = [
      [3, 300_005],
      [3, 305_005],
      [3, 310_005],
    ] as const;
    const later = 300_005 + settleMs;
    expect(after(...over).lookAtMs).toBe(later);
    expect(isNews(after(...over), after(...over, [4, later]))).toBe(true);
    const settled = after(...over, [3, later]);
    expect(settled).not.toHaveProperty('lookAtMs');
    expect(stepStorm(settled, stirred, later + 9)?.lookAtMs).toBe(later + 1_009);
  });

  it('is taken once', () => {
    const mine = stepStorm(after([3, 1_000]), { kind: 'taken', by: 'U1' }, 2_000) ?? after();
    expect(mine).toMatchObject({ taken: { by: 'U1', at: 2_000 } });
    expect(stepStorm(mine, { kind: 'taken', by: 'U2' }, 2_001)).toBeUndefined();
  });
});

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
      lately: [15, 25, 45],
      confirmed: 0,
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
});
