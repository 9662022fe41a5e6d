import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { destinationsOf } from '../../src/features/alerts/routing.ts';
import { ruleInTheWay, type AlertRule, type RouteMatch } from '../../src/domain/alert-route.ts';
import { events, naiveFit, places, rules } from '../features/alerts/naive-routes.ts';

function ruleOf(name: string, match: RouteMatch, goesOn = false): AlertRule {
  return { name, match, channels: ['C'], goesOn };
}

describe('ruleInTheWay', () => {
  it('names a rule only where it takes every event that the later one fits, and no channel is told by that one', () => {
    let found = 0;
    fc.assert(
      fc.property(rules, fc.array(events, { minLength: 30, maxLength: 30 }), (rules, events) => {
        rules.forEach((rule, index) => {
          const first = ruleInTheWay(rules, index);
          const told = ruleInTheWay(rules, index, undefined, 'C0');
          if (first) found += 1;
          for (const place of places) {
            for (const event of events.filter((one) => naiveFit(rule.match, one, place))) {
              expect(!first || (!first.goesOn && naiveFit(first.match, event, place))).toBe(true);
              const plan = { ...place, rules, failures: 'CREST', successes: undefined };
              const teller = destinationsOf(plan, event, 0).find(({ channel }) => channel === 'C0')?.rule;
              expect(told !== undefined && teller === rule).toBe(false);
            }
          }
        });
      }),
      { numRuns: 3_000 },
    );
    expect(found).toBeGreaterThan(100);
  });

  it.each<[string, AlertRule[], string | undefined]>([
    ['a broader one before it', [ruleOf('all', {}), ruleOf('vip', { currency: 'NGN' })], 'all'],
    ['one that goes on', [ruleOf('all', {}, true), ruleOf('vip', { currency: 'NGN' })], undefined],
    [
      'two that take it together by event, which nobody finds out',
      [
        ruleOf('f', { event: 'payment_failed' }),
        ruleOf('s', { event: 'payment_success' }),
        ruleOf('rest', {}),
      ],
      undefined,
    ],
    [
      'successes before saved cards, which are some of them',
      [ruleOf('s', { event: 'payment_success' }), ruleOf('cards', { event: 'card_saved' })],
      's',
    ],
    [
      'saved cards before successes, which leave the others',
      [ruleOf('cards', { event: 'card_saved' }), ruleOf('s', { event: 'payment_success' })],
      undefined,
    ],
    [
      'ranges that meet, which nobody finds out',
      [
        ruleOf('low', { currency: 'NGN', amount: { toMinor: 100 } }),
        ruleOf('high', { currency: 'NGN', amount: { fromMinor: 101 } }),
        ruleOf('middle', { currency: 'NGN', amount: { fromMinor: 50, toMinor: 150 } }),
      ],
      undefined,
    ],
    [
      'ranges with a gap of one kobo',
      [
        ruleOf('low', { currency: 'NGN', amount: { toMinor: 100 } }),
        ruleOf('high', { currency: 'NGN', amount: { fromMinor: 102 } }),
        ruleOf('middle', { currency: 'NGN', amount: { fromMinor: 50, toMinor: 150 } }),
      ],
      undefined,
    ],
    [
      'a shorter prefix',
      [
        ruleOf('v', { customer: { kind: 'prefix', text: 'V' } }),
        ruleOf('vip', { customer: { kind: 'prefix', text: 'VIP-' } }),
      ],
      'v',
    ],
    [
      'a part of its reason',
      [ruleOf('funds', { reasonPart: 'funds' }), ruleOf('no', { reasonPart: 'insufficient funds' })],
      'funds',
    ],
    [
      'a rule for the other environment',
      [ruleOf('live', { environment: 'live' }), ruleOf('rest', {})],
      undefined,
    ],
    ['a rule for one account', [ruleOf('main', { account: '!' }), ruleOf('rest', {})], undefined],
    [
      'a rule for the same account',
      [ruleOf('main', { account: 'a' }), ruleOf('b', { account: 'a' })],
      'main',
    ],
    [
      'a rule for another account',
      [ruleOf('main', { account: 'a' }), ruleOf('b', { account: 'b' })],
      undefined,
    ],
  ])('with %s', (_, rules, inTheWay) => {
    const last = rules.length - 1;
    expect(ruleInTheWay(rules, last)?.name).toEqual(inTheWay);
  });
});
