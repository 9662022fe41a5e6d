import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reachingExample, rulesInTheWay } from '../../src/domain/alert-route-reach.ts';
import {
  destinationsOf,
  type AlertRule,
  type RouteMatch,
  type RoutedRule,
  type RoutePlace,
} from '../../src/domain/alert-route.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { events, naiveFit, places, rules } from './naive-routes.ts';

function ruleOf(name: string, match: RouteMatch, goesOn = false): AlertRule {
  return { name, match, channels: ['C'], goesOn };
}

describe('reachingExample', () => {
  it('gives an event that the rule itself takes, past every rule before it', () => {
    fc.assert(
      fc.property(rules, (rules) => {
        rules.forEach((rule, index) => {
          const example = reachingExample(rules, index);
          if (!example) return;
          expect(naiveFit(rule.match, example.event, example)).toBe(true);
          const plan = {
            rules: rules.map((one) => ({ ...one, mutedUntilMs: 0 })),
            failures: 'C',
            successes: 'C',
          };
          const taken = rules
            .slice(0, index)
            .some((before) => !before.goesOn && naiveFit(before.match, example.event, example));
          expect(taken).toBe(false);
          const told = destinationsOf(
            { ...plan, environment: example.environment, account: example.account },
            example.event,
            0,
          );
          expect(told.map(({ channel }) => channel)).toEqual(expect.arrayContaining([...rule.channels]));
        });
      }),
      { numRuns: 3_000 },
    );
  });

  it('gives for a channel an event that it is told by this very rule, and none only where no event is', () => {
    let unreachable = 0;
    const oneChannel = rules.map((some) =>
      some.map(({ mutedUntilMs: _mute, ...rule }) => ({ ...rule, channels: ['C'] })),
    );
    fc.assert(
      fc.property(oneChannel, fc.array(events, { minLength: 20, maxLength: 20 }), (rules, events) => {
        const tellerOf = (event: PaymentEvent, place: RoutePlace): RoutedRule | undefined =>
          destinationsOf({ ...place, rules, failures: 'CREST', successes: undefined }, event, 0)[0]?.rule;
        rules.forEach((rule, index) => {
          const example = reachingExample(rules, index, undefined, 'C');
          if (!example) unreachable += 1;
          const isTold = example !== undefined && tellerOf(example.event, example) === rule;
          expect(isTold).toBe(example !== undefined);
          const isMet = places.some((place) => events.some((event) => tellerOf(event, place) === rule));
          expect(isMet && !isTold).toBe(false);
          expect(rulesInTheWay(rules, index, undefined, 'C').length > 0 || isTold).toBe(true);
        });
      }),
      { numRuns: 1_000 },
    );
    expect(unreachable).toBeGreaterThan(50);
  });

  it('gives none only where no event reaches the rule, and then names rules that are in the way', () => {
    let unreachable = 0;
    fc.assert(
      fc.property(rules, fc.array(events, { minLength: 30, maxLength: 30 }), (rules, events) => {
        rules.forEach((rule, index) => {
          if (reachingExample(rules, index)) return;
          unreachable += 1;
          const before = rules.slice(0, index).filter(({ goesOn }) => !goesOn);
          const named = rulesInTheWay(rules, index);
          expect(named.length).toBeGreaterThan(0);
          const inTheWay = before.filter(({ name }) => named.includes(name));
          for (const place of places) {
            const fitting = events.filter((event) => naiveFit(rule.match, event, place));
            for (const event of fitting) {
              expect(inTheWay.some(({ match }) => naiveFit(match, event, place))).toBe(true);
            }
          }
        });
      }),
      { numRuns: 3_000 },
    );
    expect(unreachable).toBeGreaterThan(100);
  });

  it.each<[string, AlertRule[], string[] | undefined]>([
    ['a broader one before it', [ruleOf('all', {}), ruleOf('vip', { currency: 'NGN' })], ['all']],
    ['one that goes on', [ruleOf('all', {}, true), ruleOf('vip', { currency: 'NGN' })], undefined],
    [
      'two that take it together by event',
      [
        ruleOf('f', { event: 'payment_failed' }),
        ruleOf('s', { event: 'payment_success' }),
        ruleOf('rest', {}),
      ],
      ['f', 's'],
    ],
    [
      'successes before saved cards, which are some of them',
      [ruleOf('s', { event: 'payment_success' }), ruleOf('cards', { event: 'card_saved' })],
      ['s'],
    ],
    [
      'saved cards before successes, which leave the others',
      [ruleOf('cards', { event: 'card_saved' }), ruleOf('s', { event: 'payment_success' })],
      undefined,
    ],
    [
      'ranges that meet',
      [
        ruleOf('low', { currency: 'NGN', amount: { toMinor: 100 } }),
        ruleOf('high', { currency: 'NGN', amount: { fromMinor: 101 } }),
        ruleOf('middle', { currency: 'NGN', amount: { fromMinor: 50, toMinor: 150 } }),
      ],
      ['low', 'high'],
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
      ['v'],
    ],
    [
      'a part of its reason',
      [ruleOf('funds', { reasonPart: 'funds' }), ruleOf('no', { reasonPart: 'insufficient funds' })],
      ['funds'],
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
      ['main'],
    ],
    [
      'a rule for another account',
      [ruleOf('main', { account: 'a' }), ruleOf('b', { account: 'b' })],
      undefined,
    ],
  ])('with %s', (_, rules, inTheWay) => {
    const last = rules.length - 1;
    const found = reachingExample(rules, last) ? undefined : rulesInTheWay(rules, last);
    expect(found).toEqual(inTheWay);
  });
});
