import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OrderReference } from '../../../../src/domain/order-reference.ts';
import { confirm } from '../../../../src/domain/transaction.ts';
import type { LoggedEvent } from '../../../../src/features/alerts/event-log.ts';
import {
  createDailySummaries,
  dailySummaryPrefix,
  summariseDay,
  summaryTime,
  type SummarySpan,
  type SummaryTime,
} from '../../../../src/features/alerts/summary/daily-summary.ts';
import { messageKey, openBody, readMessageRecord } from '../../../../src/messages/message-record.ts';
import { workOnce } from '../../../../src/records/worker.ts';
import type { Entry, Store } from '../../../../src/store/store.ts';
import { channel, killed, sealer } from '../../house.ts';
import { memoryStore } from '../../memory-store.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const at8 = (tz: string) => summaryTime({ channel, at: 8 * 60, tz });

function summariesOn(store: Store, clock: { nowMs: number }, times: readonly SummaryTime[]) {
  const shared = { sealer, rememberMs: 30 * dayMs, leaseMs: 45_000, wake: () => undefined };
  return createDailySummaries(
    { store, ...shared, now: () => clock.nowMs, log: () => undefined },
    times,
    async () => undefined,
  );
}

/** The bot's summaries, on a clock that the test moves by minutes. */
function stage(startMs: number, time = at8('Africa/Lagos')) {
  const clock = { nowMs: startMs };
  const store = memoryStore(clock);
  const asked = { times: [time] };
  async function begin(): Promise<void> {
    const summaries = summariesOn(store, clock, asked.times);
    summaries.start();
    await Promise.resolve();
    await Promise.resolve();
    summaries.stop();
  }
  async function drain(using: Partial<Store> = {}): Promise<void> {
    const on = { ...store, ...using };
    const summaries = summariesOn(on, clock, asked.times);
    const kinds = [
      { prefix: dailySummaryPrefix, work: (entry: Entry) => summaries.work(entry) },
      { prefix: 'message:', work: () => Promise.resolve() },
    ];
    while (await workOnce({ store: on, leaseMs: 45_000, kinds }));
  }
  async function run(forMs: number): Promise<void> {
    for (const endMs = clock.nowMs + forMs; clock.nowMs < endMs; clock.nowMs += minuteMs) {
      await drain();
    }
  }
  /** The spans of the stored summaries. */
  async function spans(): Promise<string[][]> {
    const keys = store.keys().filter((key) => key.startsWith(messageKey('daily_summary', '')));
    const entries = await Promise.all(keys.map((key) => store.read(key)));
    return entries.flatMap((entry) => {
      if (!entry) return [];
      const record = readMessageRecord(entry.value);
      const span = openBody(sealer, entry.key, record) as SummarySpan;
      return [[span.fromMs, span.untilMs].map((ms) => new Date(ms).toISOString())];
    });
  }
  return { clock, store, asked, begin, drain, run, spans };
}

describe('a daily summary', () => {
  it.each([
    ['forward', Date.UTC(2026, 2, 28, 12), 8, ['2026-03-29T06:00:00.000Z', '2026-03-30T06:00:00.000Z']],
    ['back', Date.UTC(2026, 9, 24, 12), 8, ['2026-10-25T07:00:00.000Z', '2026-10-26T07:00:00.000Z']],
    [
      'forward, at a time that is skipped',
      Date.UTC(2026, 2, 28, 12),
      2.5,
      ['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z'],
    ],
    [
      'back, at a time that comes twice',
      Date.UTC(2026, 9, 24, 12),
      2.5,
      ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'],
    ],
  ])('keeps its local time when the clock changes: %s', async (_way, startMs, hour, untils) => {
    const { begin, run, spans } = stage(
      startMs,
      summaryTime({ channel, at: hour * 60, tz: 'Europe/Berlin' }),
    );
    await begin();
    await run(2 * dayMs);
    expect((await spans()).map(([, until]) => until)).toEqual(untils);
  });

  it('comes once after days without a bot, and covers them all', async () => {
    const { begin, run, spans, clock } = stage(Date.UTC(2026, 10, 20, 12));
    await begin();
    await run(hourMs);
    clock.nowMs = Date.UTC(2026, 10, 23, 15);
    await begin();
    await run(hourMs);
    expect(await spans()).toEqual([['2026-11-20T07:00:00.000Z', '2026-11-23T07:00:00.000Z']]);
    await run(dayMs);
    expect(await spans()).toHaveLength(2);
  });

  it.each([1, 2, 3, 4, 5])('comes once although the worker is killed at store call %i', async (fatal) => {
    const { begin, run, drain, spans, clock, store } = stage(Date.UTC(2026, 10, 21, 6));
    await begin();
    await drain();
    clock.nowMs = Date.UTC(2026, 10, 21, 7, 1);
    let calls = 0;
    const dies = () => (calls += 1) === fatal;
    await drain({
      create: (...given) => (dies() ? killed() : store.create(...given)),
      write: (...given) => (dies() ? killed() : store.write(...given)),
    }).catch(() => undefined);
    await run(2 * hourMs);
    expect(await spans()).toEqual([['2026-11-20T07:00:00.000Z', '2026-11-21T07:00:00.000Z']]);
  });

  it('counts each event once when its time is changed', async () => {
    const { begin, run, spans, asked } = stage(Date.UTC(2026, 10, 20, 12));
    await begin();
    await run(20 * hourMs);
    asked.times = [summaryTime({ channel, at: 18 * 60, tz: 'Africa/Lagos' })];
    await begin();
    await run(2 * dayMs);
    expect(await spans()).toEqual([
      ['2026-11-20T07:00:00.000Z', '2026-11-21T07:00:00.000Z'],
      ['2026-11-21T07:00:00.000Z', '2026-11-22T17:00:00.000Z'],
    ]);
  });

  it.each([
    ['after its time', 20],
    ['before its time', 18],
  ])('comes although its timer became unreadable %s', async (_when, hours) => {
    const { begin, run, drain, spans, store } = stage(Date.UTC(2026, 10, 20, 12));
    await begin();
    await run(hours * hourMs);
    const entry = (await store.read(`${dailySummaryPrefix}${channel}`))!;
    await store.write(entry, '{"toldUntilMs":', { delayMs: 3 * hourMs });
    await run(3 * hourMs);
    await drain();
    const first = ['2026-11-20T07:00:00.000Z', '2026-11-21T07:00:00.000Z'];
    expect(await spans()).toEqual([first]);
    await run(dayMs);
    expect(await spans()).toEqual([first, ['2026-11-21T07:00:00.000Z', '2026-11-22T07:00:00.000Z']]);
  });

  it.each([
    ['a month', 30 * dayMs, ['2026-12-21T07:00:00.000Z']],
    ['half an hour, across its time', hourMs / 2, ['2026-11-21T07:00:00.000Z']],
  ])('comes each day, once, after the clock was put back by %s', async (_by, backMs, before) => {
    const { begin, run, spans, clock } = stage(Date.UTC(2026, 10, 20, 12) + backMs);
    await begin();
    await run(19 * hourMs + 5 * minuteMs);
    clock.nowMs -= backMs;
    await run(2 * dayMs);
    const untils = (await spans()).map(([, until]) => until);
    expect(untils).toEqual([...before, '2026-11-22T07:00:00.000Z', '2026-11-23T07:00:00.000Z']);
  });

  it('ends when it is removed from the settings', async () => {
    const { begin, run, spans, asked, store } = stage(Date.UTC(2026, 10, 20, 12));
    await begin();
    asked.times = [];
    await run(2 * dayMs);
    expect(await spans()).toEqual([]);
    expect(await store.read(`${dailySummaryPrefix}${channel}`)).toBeUndefined();
  });
});

type ReadState = Parameters<typeof summariseDay>[1];

const open: ReadState = () => Promise.resolve({ state: { kind: 'open' } });

function summarised(events: readonly LoggedEvent[], span: SummarySpan, readState = open, to = channel) {
  const shownAccount = { environment: 'live', account: 'main account' } as const;
  const plan = { ...shownAccount, rules: [], failures: channel, successes: undefined };
  const eventLog = {
    async *since() {
      await Promise.resolve();
      yield events;
    },
  };
  return summariseDay(eventLog, readState, { channel: to, plan, nowMs: 200, ...span });
}

function failureOf(reference: string): LoggedEvent {
  return { event: { kind: 'payment_failed', key: reference, orderReference: reference }, receivedAtMs: 1 };
}

describe('what summaries count', () => {
  it('is each event, in exactly one summary', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60)), async (drawn) => {
        const events = drawn.map((receivedAtMs, index) => ({
          event: { kind: 'payment_failed' as const, key: `${index}` },
          receivedAtMs,
        }));
        const ends = [0, 10, 30, 31, 61, 200];
        const days = await Promise.all(
          ends.slice(1).map((untilMs, index) => summarised(events, { fromMs: ends[index] ?? 0, untilMs })),
        );
        expect(days.reduce((sum, { failed }) => sum + failed.count, 0)).toBe(events.length);
      }),
    );
  });

  it('counts as posted only what went to its channel: no muted event', async () => {
    const failure = { event: { kind: 'payment_failed', key: 'k' }, receivedAtMs: 1 } as const;
    const events = [{ ...failure, channels: [channel] }, { ...failure, channels: ['C0OTHER001'] }, failure];
    const { postedHere, failed } = await summarised(events, { fromMs: 0, untilMs: 2 });
    expect([postedHere, failed.count]).toEqual([1, 3]);
  });

  it('leaves events that their look-up contradicts out of the sums, and counts them separately', async () => {
    const lookups = [
      undefined,
      'unchecked',
      'confirmed',
      'not_confirmed',
      'not_found',
      'given_back',
    ] as const;
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
    expect(await summarised(events, { fromMs: 0, untilMs: 2 })).toMatchObject({
      failed: {
        count: 4,
        sums: [{ minor: 11_011 }],
        reasons: [{ reason: '0' }, { reason: '1' }, { reason: '3' }, { reason: '4' }],
      },
      paid: { count: 3, sums: [{ minor: 111 }] },
      proven: 1,
      disputed: { failed: 1, paid: 2, givenBack: 2 },
    });
  });

  it('lists the open alerts that its channel got or that a mute held back, also after the rules changed', async () => {
    // Today’s rules send all failures to this channel.
    const events: LoggedEvent[] = [
      { ...failureOf('HERE'), channels: [channel] },
      { ...failureOf('ELSEWHERE'), channels: ['C0OTHER001'] },
      { ...failureOf('MUTED'), channels: [], isMuted: true },
      { ...failureOf('MUTED-HERE'), channels: ['C0OTHER001'], isMuted: true },
      failureOf('NOT-ROUTED-YET'),
    ];
    const openIn = async (to: string) => {
      const { alerts } = await summarised(events, { fromMs: 0, untilMs: 2 }, open, to);
      return alerts.open.map(({ orderReference }) => orderReference);
    };
    expect(await openIn(channel)).toEqual(['HERE', 'MUTED', 'MUTED-HERE', 'NOT-ROUTED-YET']);
    expect(await openIn('C0OTHER001')).toEqual(['ELSEWHERE', 'MUTED-HERE']);
  });

  it('names the order that a look-up proved after the alert was posted', async () => {
    const event = { kind: 'payment_failed', key: 'k', transactionId: 'T-1' } as const;
    const transaction = { id: 'T-1', orderReference: 'ORDER-1', amountMinor: 500, currency: 'NGN' };
    const lookup = confirm({ reference: 'ORDER-1' as OrderReference }, transaction);
    const readState: ReadState = async () => ({ state: { kind: 'open' }, evidence: { lookup, atMs: 3 } });
    const summary = await summarised([{ event, receivedAtMs: 1 }], { fromMs: 0, untilMs: 2 }, readState);
    expect(summary.alerts.open).toEqual([
      { orderReference: 'ORDER-1', money: { minor: 500, currency: 'NGN' }, receivedAtMs: 1 },
    ]);
  });
});
