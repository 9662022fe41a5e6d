import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AlertRule, RoutePlan } from '../../../src/domain/alert-route.ts';
import { loggedEvent } from '../../../src/domain/logged-event.ts';
import { rehearsedLine } from '../../../src/domain/rehearsal.ts';
import { emptySummary, withPace, type StormSummary } from '../../../src/domain/storm-summary.ts';
import { createChannelStorms } from '../../../src/operations/storm/channel-storms.ts';
import { rehearse } from '../../../src/operations/alert/rehearse.ts';
import { stormPrefix } from '../../../src/operations/storm/storm-records.ts';
import { workOnce } from '../../../src/operations/work/work-once.ts';
import type { Entry } from '../../../src/store/store.ts';
import { memoryStore } from '../memory-store.ts';

const channel = 'C0STORM001';
const windowMs = 10_000;
const rules: AlertRule[] = [
  { name: 'usual', match: { currency: 'NGN' }, channels: [channel], goesOn: false },
  { name: 'own', match: { currency: 'USD' }, channels: [channel], digestAfter: 2, goesOn: false },
  { name: 'never', match: {}, channels: [channel], digestAfter: 0, goesOn: false },
];
const plan: RoutePlan = {
  rules,
  environment: 'live',
  account: 'main',
  failures: 'C0ALERTS01',
  successes: undefined,
};

type Drawn = { atMs: number; rule: AlertRule; id: string };

/** How many messages each rule gets from the storms of the bot itself, whose worker looks every second. */
async function posted(events: readonly Drawn[], threshold: number): Promise<Record<string, number>> {
  const clock = { nowMs: 0 };
  const store = memoryStore(clock);
  const summaries = new Map<string, StormSummary>();
  const storms = createChannelStorms({
    store,
    threshold,
    windowMs,
    summaryOf: (storm) => Promise.resolve(summaries.get(storm)),
    tell: () => Promise.resolve(),
    now: () => clock.nowMs,
  });
  const kinds = [
    {
      prefix: stormPrefix,
      work: (entry: Entry) => storms.work(entry, { list: () => Promise.resolve(true) }),
    },
  ];
  const posts: Record<string, number> = { usual: 0, own: 0, never: 0 };
  for (const { atMs, rule, id } of events) {
    for (; clock.nowMs < atMs; clock.nowMs += 1_000) {
      // oxlint-disable-next-line no-await-in-loop
      while (await workOnce({ store, leaseMs: 500, kinds }));
    }
    // oxlint-disable-next-line no-await-in-loop
    while (await workOnce({ store, leaseMs: 500, kinds }));
    // oxlint-disable-next-line no-await-in-loop
    const storm = await storms.ask({ channel, rule }, id, 'payment_failed');
    if (storm === undefined || !summaries.has(storm)) posts[rule.name] = (posts[rule.name] ?? 0) + 1;
    if (storm !== undefined) {
      const before = summaries.get(storm) ?? emptySummary;
      summaries.set(storm, { ...before, ...withPace(before, clock.nowMs) });
    }
  }
  return posts;
}

it('counts the messages that the storms of the bot would post, whatever comes when and by which rule', async () => {
  const drawn = fc.array(fc.tuple(fc.nat(4), fc.nat(2)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(drawn, fc.constantFrom(0, 1, 3), async (steps, threshold) => {
      let atMs = 0;
      const events = steps.map(([seconds, which], index): Drawn => {
        atMs += seconds * 1_000;
        return { atMs, rule: rules[which] ?? rules[0]!, id: `k${index}` };
      });
      const logged = events.map(({ atMs: receivedAtMs, rule, id }) =>
        loggedEvent(
          { kind: 'payment_failed', key: id, currency: rule.match.currency ?? 'EUR' },
          receivedAtMs,
        ),
      );
      async function* between() {
        await Promise.resolve();
        yield { hourMs: 0, events: logged };
      }
      const rehearsal = await rehearse({ between }, plan, { threshold, windowMs }, 1_000_000);
      const lines = rules.map(({ name }) => [name, rehearsedLine(rehearsal, channel, name).posts]);
      expect(Object.fromEntries(lines)).toEqual(await posted(events, threshold));
    }),
    { numRuns: 300 },
  );
});
