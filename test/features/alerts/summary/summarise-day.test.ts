import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summariseDay } from '../../../../src/features/alerts/summary/daily-summary.ts';
import { channel } from '../../house.ts';
import { openCard, plan } from '../../summary-stage.ts';

describe('summaries, one after the other', () => {
  it('leave no event out and count none twice, whenever each came', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60)), async (drawn) => {
        const events = drawn.map((receivedAtMs, index) => ({
          event: { kind: 'payment_failed' as const, key: `${index}` },
          receivedAtMs,
        }));
        async function* since() {
          await Promise.resolve();
          yield events;
        }
        const deps = { eventLog: { since }, plan, muted: [], readCard: openCard, now: () => 200 };
        const ends = [0, 10, 30, 31, 61, 200];
        const counts = await Promise.all(
          ends.slice(1).map(async (untilMs, index) => {
            const span = { fromMs: ends[index] ?? 0, untilMs };
            return (await summariseDay(deps, channel, span)).failed.count;
          }),
        );
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(events.length);
      }),
    );
  });
});

describe('an event whose own look-up says otherwise', () => {
  it('is in no sum of the day, and told beside them', async () => {
    const lookups = [undefined, 'unchecked', 'confirmed', 'not_confirmed', 'not_found'] as const;
    const kinds = ['payment_failed', 'payment_success'] as const;
    const events = kinds.flatMap((kind) =>
      lookups.map((lookup, index) => ({
        event: {
          kind,
          key: `${kind}/${index}`,
          reason: `${index}`,
          amountMinor: 10 ** index,
          currency: 'NGN',
        },
        receivedAtMs: 1,
        ...(lookup === undefined ? {} : { lookup }),
      })),
    );
    async function* since() {
      await Promise.resolve();
      yield events;
    }
    const deps = { eventLog: { since }, plan, muted: [], readCard: openCard, now: () => 3 };
    expect(await summariseDay(deps, channel, { fromMs: 0, untilMs: 2 })).toMatchObject({
      failed: { count: 4, sums: [{ minor: 11_011 }] },
      paid: { count: 3, sums: [{ minor: 111 }] },
      proven: 1,
      disputed: { failed: 1, paid: 2 },
      reasons: [{ reason: '0' }, { reason: '1' }, { reason: '3' }, { reason: '4' }],
    });
  });
});
