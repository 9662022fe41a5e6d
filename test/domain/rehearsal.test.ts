import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AlertRule, RoutePlan } from '../../src/domain/alert-route.ts';
import { loggedEvent } from '../../src/domain/logged-event.ts';
import {
  nothingRehearsed,
  rehearseHour,
  rehearsedLine,
  rehearsedWords,
  type Rehearsing,
  type StormTerms,
} from '../../src/domain/rehearsal.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { events, naiveChannels, places, rules } from './naive-routes.ts';

const failure: PaymentEvent = { kind: 'payment_failed', key: 'k', reason: 'Insufficient funds' };

const noStorms: StormTerms = { threshold: 0, windowMs: 300_000 };

function planOf(rules: AlertRule[]): RoutePlan {
  return { rules, environment: 'live', account: 'main', failures: 'CALERTS', successes: undefined };
}

function hour(count: number, atMs: number) {
  return Array.from({ length: count }, () => loggedEvent(failure, atMs));
}

describe('a rehearsal', () => {
  it('counts for every channel what a naive reading of the rules posts there, were nothing muted', () => {
    fc.assert(
      fc.property(
        rules,
        fc.array(fc.array(events, { maxLength: 10 }), { maxLength: 5 }),
        fc.constantFrom(...places),
        (rules, hours, place) => {
          const plan = { ...planOf(rules), ...place, successes: 'CDONE' };
          const rehearsal = hours.reduce(
            (before, hour) =>
              rehearseHour(
                plan,
                before,
                hour.map((event) => loggedEvent(event, 1_000, { kind: 'not_found' })),
                noStorms,
              ),
            nothingRehearsed,
          );
          const unmuted = { ...plan, rules: rules.map(({ mutedUntilMs: _muted, ...rule }) => rule) };
          for (const channel of ['C0', 'C1', 'C2', 'C3', 'CALERTS', 'CDONE']) {
            const inHours = hours.map(
              (hour) => hour.filter((event) => naiveChannels(unmuted, event, 1_000).includes(channel)).length,
            );
            const lines = rehearsal.lines.filter((line) => line.channel === channel);
            const posts = lines.reduce((sum, line) => sum + line.posts, 0);
            expect(posts).toBe(inHours.reduce((sum, count) => sum + count, 0));
            const worst = lines.map(({ worstHour }) => worstHour);
            expect(Math.max(0, ...worst)).toBeLessThanOrEqual(Math.max(0, ...inHours));
          }
          expect(rehearsal.events).toBe(hours.flat().length);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('tells the worst hour of a rule, and since when there are events', () => {
    const plan = planOf([{ name: 'r', match: { reasonPart: 'funds' }, channels: ['C'], goesOn: false }]);
    const rehearsal = [hour(2, 50), hour(9, 100), hour(3, 200)].reduce(
      (before, events) => rehearseHour(plan, before, events, noStorms),
      nothingRehearsed,
    );
    expect(rehearsedLine(rehearsal, 'C', 'r')).toEqual({
      channel: 'C',
      rule: 'r',
      posts: 14,
      worstHour: 9,
      inDigests: 0,
    });
    expect(rehearsedLine(rehearsal, 'CALERTS')).toEqual({
      channel: 'CALERTS',
      posts: 0,
      worstHour: 0,
      inDigests: 0,
    });
    expect(rehearsal).toMatchObject({ events: 14, sinceMs: 50, unsure: 0 });
  });

  it('says of how many events nobody asked the service what a rule wants to know', () => {
    const plan = planOf([{ name: 'r', match: { currency: 'NGN' }, channels: ['C'], goesOn: false }]);
    const logged = [
      loggedEvent(failure, 1),
      loggedEvent(failure, 1, { kind: 'unchecked', failure: 'timeout' }),
      loggedEvent(failure, 1, { kind: 'not_found' }),
      loggedEvent({ ...failure, currency: 'NGN' }, 1),
    ];
    expect(rehearseHour(plan, nothingRehearsed, logged, noStorms)).toMatchObject({ events: 4, unsure: 2 });
  });
});

const terms: StormTerms = { threshold: 20, windowMs: 300_000 };
const hourMs = 3_600_000;
const ours = { name: 'r', match: { reasonPart: 'funds' }, channels: ['C'], goesOn: false };

/** One failure at each of these times, in the hours that they fall into. */
function rehearsed(rules: AlertRule[], times: readonly number[], first = failure): Rehearsing {
  const hours = Map.groupBy(times.entries(), ([, atMs]) => Math.floor(atMs / hourMs));
  return [...hours.values()].reduce((before, entries) => {
    const events = entries.map(([index, atMs]) => loggedEvent({ ...first, key: `k${index}` }, atMs));
    return rehearseHour(planOf(rules), before, events, terms);
  }, nothingRehearsed);
}

const every = (count: number, stepMs: number, fromMs = 0): number[] =>
  Array.from({ length: count }, (_, index) => fromMs + index * stepMs);

describe('a rehearsal of a storm', () => {
  it('posts what passes singly and one digest, and says how many that one tells', () => {
    const line = rehearsedLine(rehearsed([ours], every(10_000, 20)), 'C', 'r');
    expect(line).toMatchObject({ posts: 21, worstHour: 21, inDigests: 9_980 });
    expect(rehearsedWords(line)).toBe('21, worst hour 21; digests would have told 9980 more');
  });

  it('goes on over the end of an hour, and ends by itself', () => {
    const acrossHours = every(100, 1_000, hourMs - 50_000);
    expect(rehearsedLine(rehearsed([ours], acrossHours), 'C', 'r')).toMatchObject({ posts: 21 });
    const twice = [...acrossHours, ...every(100, 1_000, 3 * hourMs)];
    expect(rehearsedLine(rehearsed([ours], twice), 'C', 'r')).toMatchObject({ posts: 42, inDigests: 160 });
  });

  it('keeps to the rule’s own threshold, and shares the channel’s with rules that have none', () => {
    const times = every(100, 1_000);
    const never = rehearsed([{ ...ours, digestAfter: 0 }], times);
    expect(rehearsedLine(never, 'C', 'r')).toMatchObject({ posts: 100, inDigests: 0 });
    const soon = rehearsed([{ ...ours, digestAfter: 5 }], times);
    expect(rehearsedLine(soon, 'C', 'r')).toMatchObject({ posts: 6, inDigests: 95 });
    const second = { ...ours, name: 'second', match: {}, channels: ['C'] };
    const both = [{ ...ours, match: { reasonPart: 'other' } }, second];
    expect(rehearsedLine(rehearsed(both, times), 'C', 'second')).toMatchObject({ posts: 21 });
  });

  it('gathers payments apart from failures, but for those that a look-up did not confirm', () => {
    const times = every(100, 1_000);
    const rule = { ...ours, match: {} };
    const paid = { kind: 'payment_success', key: 'p' } as const;
    expect(rehearsedLine(rehearsed([rule], times, paid), 'C', 'r')).toMatchObject({
      posts: 21,
      inDigests: 80,
    });
    const failures = times.map((atMs, index) => loggedEvent({ ...failure, key: `f${index}` }, atMs));
    const payments = times.map((atMs, index) => loggedEvent({ ...paid, key: `p${index}` }, atMs));
    const both = rehearseHour(planOf([rule]), nothingRehearsed, [...failures, ...payments], terms);
    expect(rehearsedLine(both, 'C', 'r')).toMatchObject({ posts: 42, inDigests: 160 });
    const doubted = payments.map((one) => ({ ...one, lookup: 'not_confirmed' as const }));
    const alone = rehearseHour(planOf([rule]), nothingRehearsed, doubted, terms);
    expect(rehearsedLine(alone, 'C', 'r')).toMatchObject({ posts: 100, inDigests: 0 });
    // As in a channel: the card that each was made for cannot be charged.
    const without = rehearsed([rule], times, { ...paid, cardSaved: { kind: 'no_token' } });
    expect(rehearsedLine(without, 'C', 'r')).toMatchObject({ posts: 100, inDigests: 0 });
    const kept = rehearsed([rule], times, { ...paid, cardSaved: { kind: 'kept', face: {} } });
    expect(rehearsedLine(kept, 'C', 'r')).toMatchObject({ posts: 21, inDigests: 80 });
  });
});
