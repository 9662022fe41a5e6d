import { describe, expect, it } from 'vitest';
import {
  createDailySummaries,
  dailySummaryPrefix,
  summaryTime,
} from '../../../../src/features/alerts/summary/daily-summaries.ts';
import { workOnce } from '../../../../src/records/worker.ts';
import type { Entry, Store } from '../../../../src/store/store.ts';
import { channel, killed, sealer } from '../../house.ts';
import { onBothStores } from '../../two-stores.ts';

import { at8, dayMs, hourMs, stage } from '../../summary-stage.ts';

describe('a daily summary', () => {
  it('keeps to the wall clock over summer time, there and back, and over an hour that is skipped or comes twice', async () => {
    const spring = stage(Date.UTC(2026, 2, 28, 12), at8('Europe/Berlin'));
    await spring.begin();
    await spring.run(2 * dayMs);
    expect(spring.spans().map(([, until]) => until)).toEqual([
      '2026-03-29T06:00:00.000Z',
      '2026-03-30T06:00:00.000Z',
    ]);
    const autumn = stage(Date.UTC(2026, 9, 24, 12), at8('Europe/Berlin'));
    await autumn.begin();
    await autumn.run(2 * dayMs);
    expect(autumn.spans().map(([, until]) => until)).toEqual([
      '2026-10-25T07:00:00.000Z',
      '2026-10-26T07:00:00.000Z',
    ]);
    const half = { channel, at: 2 * 60 + 30, tz: 'Europe/Berlin' };
    for (const start of [Date.UTC(2026, 2, 28, 12), Date.UTC(2026, 9, 24, 12)]) {
      const skipped = stage(start, summaryTime(half));
      // oxlint-disable-next-line no-await-in-loop
      await skipped.begin();
      // oxlint-disable-next-line no-await-in-loop
      await skipped.run(2 * dayMs);
      expect(skipped.spans()).toHaveLength(2);
    }
  });

  it('comes once after days without a bot, and tells of all of them', async () => {
    const { begin, run, spans, clock } = stage(Date.UTC(2026, 10, 20, 12));
    await begin();
    await run(hourMs);
    clock.nowMs = Date.UTC(2026, 10, 23, 15);
    await begin();
    await run(hourMs);
    expect(spans()).toEqual([['2026-11-20T07:00:00.000Z', '2026-11-23T07:00:00.000Z']]);
    await run(dayMs);
    expect(spans()).toHaveLength(2);
  });

  it('comes once wherever the worker was killed', async () => {
    for (let fatal = 1; fatal <= 5; fatal += 1) {
      const { begin, run, drain, spans, clock, store } = stage(Date.UTC(2026, 10, 21, 6));
      // oxlint-disable-next-line no-await-in-loop
      await begin();
      // oxlint-disable-next-line no-await-in-loop
      await drain();
      clock.nowMs = Date.UTC(2026, 10, 21, 7, 1);
      let calls = 0;
      const dies = () => (calls += 1) === fatal;
      // oxlint-disable-next-line no-await-in-loop
      await drain({
        create: (...given) => (dies() ? killed() : store.create(...given)),
        write: (...given) => (dies() ? killed() : store.write(...given)),
      }).catch(() => undefined);
      // oxlint-disable-next-line no-await-in-loop
      await run(2 * hourMs);
      expect(spans()).toEqual([['2026-11-20T07:00:00.000Z', '2026-11-21T07:00:00.000Z']]);
    }
  });

  it('counts no event twice and none not at all when its time is changed', async () => {
    const { begin, run, spans, deps } = stage(Date.UTC(2026, 10, 20, 12));
    await begin();
    await run(20 * hourMs);
    Object.assign(deps, { times: [summaryTime({ channel, at: 18 * 60, tz: 'Africa/Lagos' })] });
    await begin();
    await run(2 * dayMs);
    expect(spans()).toEqual([
      ['2026-11-20T07:00:00.000Z', '2026-11-21T07:00:00.000Z'],
      ['2026-11-21T07:00:00.000Z', '2026-11-22T17:00:00.000Z'],
    ]);
  });

  it('ends when nobody asks for it any more', async () => {
    const { begin, run, spans, deps, store } = stage(Date.UTC(2026, 10, 20, 12));
    await begin();
    Object.assign(deps, { times: [] });
    await run(2 * dayMs);
    expect(spans()).toEqual([]);
    expect(await store.read(`${dailySummaryPrefix}${channel}`)).toBeUndefined();
  });
});

onBothStores('daily summaries of two replicas', (open) => {
  it('are stored once for each channel and day', async () => {
    const { one, two, contents, close } = await open();
    const clock = { nowMs: Date.UTC(2026, 10, 21, 6, 59) };
    const replicas = [one, two].map((store: Store) => ({
      store,
      summaries: createDailySummaries({
        store,
        sealer,
        rememberMs: 30 * dayMs,
        leaseMs: 45_000,
        times: [at8('Africa/Lagos'), { ...at8('Europe/Berlin'), channel: 'C0OTHER001' }],
        now: () => clock.nowMs,
        wake: () => undefined,
        log: () => undefined,
      }),
    }));
    for (const { summaries } of replicas) summaries.start();
    const kinds = replicas.map(({ summaries }) => [
      { prefix: dailySummaryPrefix, work: (entry: Entry) => summaries.work(entry) },
    ]);
    const round = () =>
      Promise.all(
        replicas.map(async ({ store }, index) => {
          const deps = { store, leaseMs: 5_000, kinds: kinds[index] ?? [], log: () => undefined };
          while (await workOnce(deps));
        }),
      );
    await expect.poll(() => contents.keys(dailySummaryPrefix)).toHaveLength(2);
    await round();
    clock.nowMs = Date.UTC(2026, 10, 21, 7, 1);
    // What is asleep is woken by hand: the stores' own clock cannot be moved.
    for (const name of [channel, 'C0OTHER001']) {
      // oxlint-disable-next-line no-await-in-loop
      const entry = await one.read(`${dailySummaryPrefix}${name}`);
      // oxlint-disable-next-line no-await-in-loop
      if (entry) await Promise.all(replicas.map(({ summaries }) => summaries.work(entry)));
    }
    for (const { summaries } of replicas) summaries.stop();
    expect((await contents.keys('message:daily_summary:')).toSorted()).toEqual([
      `message:daily_summary:${channel}/2026-11-21`,
      'message:daily_summary:C0OTHER001/2026-11-21',
    ]);
    await close();
  });
});
