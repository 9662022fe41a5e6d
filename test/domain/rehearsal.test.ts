import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AlertRule, RoutePlan } from '../../src/domain/alert-route.ts';
import { loggedEvent } from '../../src/domain/logged-event.ts';
import { nothingRehearsed, rehearseHour, rehearsedLine } from '../../src/domain/rehearsal.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { events, naiveChannels, places, rules } from './naive-routes.ts';

const failure: PaymentEvent = { kind: 'payment_failed', key: 'k', reason: 'Insufficient funds' };

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
      (before, events) => rehearseHour(plan, before, events),
      nothingRehearsed,
    );
    expect(rehearsedLine(rehearsal, 'C', 'r')).toEqual({ channel: 'C', rule: 'r', posts: 14, worstHour: 9 });
    expect(rehearsedLine(rehearsal, 'CALERTS')).toEqual({ channel: 'CALERTS', posts: 0, worstHour: 0 });
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
    expect(rehearseHour(plan, nothingRehearsed, logged)).toMatchObject({ events: 4, unsure: 2 });
  });
});
