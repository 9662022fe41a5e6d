import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { dailySummaryPrefix } from '../../../src/operations/alert/daily-summaries.ts';
import { createEventLog } from '../../../src/operations/alert/event-log.ts';
import { receiveEvent } from '../../../src/operations/alert/receive-event.ts';
import { summariseDay } from '../../../src/operations/alert/summarise-day.ts';
import { channel, event, house, sealer } from '../house.ts';

import { dayMs, hourMs, openCard, plan, stage } from '../summary-stage.ts';

function failures(count: number): PaymentEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    ...event,
    key: `payment_failed:${index}`,
    orderReference: `SUB-${index}`,
  }));
}

describe('what was not known when its day was told', () => {
  const other = 'C0REFUSED1';

  it('is counted by the next summary, once, which says so: a channel that refused for a day', async () => {
    const opened = stage(Date.UTC(2026, 10, 20, 12));
    const { begin, run, told, receive, deliver, drain } = opened;
    await begin();
    let isRefused = true;
    receive.route = deliver.route = (one) => [{ channel: one.orderReference === 'SUB-0' ? channel : other }];
    const { compose } = deliver;
    deliver.compose = (post) => {
      const made = compose(post);
      return {
        ...made,
        post: (to, threadTs) =>
          isRefused && to === other
            ? Promise.resolve({ kind: 'refused', slackError: 'not_in_channel', fix: '', about: 'channel' })
            : made.post(to, threadTs),
      };
    };
    for (const one of failures(21)) {
      // oxlint-disable-next-line no-await-in-loop
      await receiveEvent(receive, one, 'f');
    }
    await run(20 * hourMs);
    const [first] = told();
    // Its own channel's, and the one that was refused.
    expect(first).toMatchObject({ failed: { count: 2 }, late: 0 });
    isRefused = false;
    await run(dayMs);
    await drain();
    expect(told()).toHaveLength(2);
    expect(told()[1]).toMatchObject({ failed: { count: 19 }, late: 19, notYet: 0 });
    await run(dayMs);
    expect(told()[2]).toMatchObject({ failed: { count: 0 }, late: 0 });
  });

  it('is said in that very summary where it is known by the time it leaves', async () => {
    const { store, clock } = house();
    const log = createEventLog({ store, sealer, now: () => clock.nowMs, log: () => undefined });
    const deps = { eventLog: log, plan, readCard: openCard, now: () => clock.nowMs };
    clock.nowMs = 1_000_500;
    await log.add(event, 1_000_000);
    clock.nowMs = 2_000_000;
    await log.add({ ...event, key: 'late' }, 1_000_001);
    const span = { fromMs: 900_000, untilMs: 1_100_000, knownFromMs: 900_000, knownUntilMs: 1_500_000 };
    const summary = await summariseDay(deps, channel, span);
    expect(summary).toMatchObject({ failed: { count: 1 }, toldHere: 1, late: 0, notYet: 1 });
  });

  it('leaves no event out and counts none twice, whenever each came and was logged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(60), fc.nat(60))), async (drawn) => {
        const events = drawn.map(([receivedAtMs, waitedMs], index) => ({
          kind: 'payment_failed' as const,
          id: `${index}`,
          receivedAtMs,
          // As an earlier release wrote it.
          ...(waitedMs === 0 ? {} : { loggedAtMs: receivedAtMs + waitedMs }),
        }));
        async function* between() {
          await Promise.resolve();
          yield { hourMs: 0, events };
        }
        const deps = { eventLog: { between }, plan, readCard: openCard, now: () => 200 };
        const ends = [0, 10, 30, 31, 61, 200];
        const known = [0, 12, 30, 44, 70, 200];
        const counts = await Promise.all(
          ends.slice(1).map(async (untilMs, index) => {
            const [fromMs = 0, knownFromMs = 0] = [ends[index], known[index]];
            const span = { fromMs, untilMs, knownFromMs, knownUntilMs: known[index + 1] ?? 0 };
            return (await summariseDay(deps, channel, span)).failed.count;
          }),
        );
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(events.length);
      }),
    );
  });

  it('counts in its own day what came a moment before its time and was looked up after it', async () => {
    const { begin, run, told, receive, clock, drain } = stage(Date.UTC(2026, 10, 21, 6));
    await begin();
    await drain();
    clock.nowMs = Date.UTC(2026, 10, 21, 7) - 1_000;
    await receiveEvent(receive, event, 'f');
    clock.nowMs += 10_000;
    await drain();
    await run(hourMs);
    expect(told()).toEqual([expect.objectContaining({ late: 0, toldHere: 1 })]);
  });

  it('goes by the times of the events alone in what an earlier release stored', async () => {
    const { begin, run, told, store, receive } = stage(Date.UTC(2026, 10, 20, 12));
    const toldUntilMs = Date.UTC(2026, 10, 20, 7);
    await store.create(`${dailySummaryPrefix}${channel}`, JSON.stringify({ toldUntilMs }), { delayMs: 0 });
    await begin();
    await receiveEvent(receive, event, 'f');
    await run(2 * dayMs);
    expect(told().map(({ failed }) => failed.count)).toEqual([1, 0]);
  });
});
describe('the day of a summary', () => {
  it('ends just before its time', async () => {
    const { store } = house();
    const log = createEventLog({ store, sealer, now: () => 1_000, log: () => undefined });
    await log.add(event, 1_000);
    const summary = await summariseDay(
      { eventLog: log, plan, readCard: () => Promise.resolve({ card: { kind: 'open' } }), now: () => 5_000 },
      channel,
      { fromMs: 0, untilMs: 1_000 },
    );
    // Received at the very end of the day: the next one's.
    expect(summary).toMatchObject({ failed: { count: 0 }, cards: { open: [{ id: event.key }] } });
  });

  it('asks for the cards of a storm of ten thousand, and says how many it left out beyond what it can ask for', async () => {
    const count = 20_010;
    const events = Array.from({ length: count }, (_, index) => ({
      kind: 'payment_failed' as const,
      id: `payment_failed/order/${index}`,
      receivedAtMs: 1_000,
    }));
    async function* between() {
      await Promise.resolve();
      yield { hourMs: 0, events };
    }
    const card = { kind: 'acknowledged', by: 'U0ADA00001', at: 0 } as const;
    const readCard = () => Promise.resolve({ card });
    const summary = await summariseDay({ eventLog: { between }, plan, readCard, now: () => 5_000 }, channel, {
      fromMs: 0,
      untilMs: 2_000,
    });
    expect(summary).toMatchObject({
      failed: { count },
      cards: { open: [], acknowledged: 20_000, snoozed: 0, leftOut: 10 },
    });
  });
});

describe('an event whose own look-up says otherwise', () => {
  it('is in no sum of the day, and told beside them', async () => {
    const lookups = [undefined, 'unchecked', 'confirmed', 'not_confirmed', 'not_found'] as const;
    const kinds = ['payment_failed', 'payment_success'] as const;
    const events = kinds.flatMap((kind) =>
      lookups.map((lookup, index) => ({
        kind,
        id: `${kind}/${index}`,
        receivedAtMs: 1,
        reason: `${index}`,
        amountMinor: 10 ** index,
        currency: 'NGN',
        ...(lookup === undefined ? {} : { lookup }),
      })),
    );
    async function* between() {
      await Promise.resolve();
      yield { hourMs: 0, events };
    }
    const deps = { eventLog: { between }, plan, readCard: openCard, now: () => 3 };
    expect(await summariseDay(deps, channel, { fromMs: 0, untilMs: 2 })).toMatchObject({
      failed: { count: 4, sums: [{ minor: 11_011 }] },
      paid: { count: 3, sums: [{ minor: 111 }] },
      proven: 1,
      disputed: { failed: 1, paid: 2 },
      reasons: [{ reason: '0' }, { reason: '1' }, { reason: '3' }, { reason: '4' }],
    });
  });
});
