import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { destinationsOf } from '../../src/features/alerts/route-event.ts';
import { shadowingRule } from '../../src/config/alert-rules.ts';
import type { AlertRule, RouteMatch } from '../../src/domain/alert.ts';
import { countOf } from '../support/counts.ts';
import { events, naiveFit, places, rules } from '../features/alerts/naive-routes.ts';

function ruleOf(name: string, match: RouteMatch, continues = false): AlertRule {
  return { name, match, channels: ['C'], continues };
}

describe('shadowingRule', () => {
  it('names an earlier rule only if it takes every event of the later rule, which then posts nothing', () => {
    let found = 0;
    fc.assert(
      fc.property(rules, fc.array(events, { minLength: 30, maxLength: 30 }), (rules, events) => {
        // An `expect` each would take longer than all else here.
        const wrong: unknown[] = [];
        rules.forEach((rule, index) => {
          const first = shadowingRule(rules, index);
          const told = shadowingRule(rules, index, 'C0');
          if (first) found += 1;
          for (const eventAccount of places) {
            for (const event of events.filter((one) => naiveFit(rule.match, one, eventAccount))) {
              if (first && (first.continues || !naiveFit(first.match, event, eventAccount)))
                wrong.push({ rules, index, event, eventAccount });
              const plan = { ...eventAccount, rules, failures: 'CREST', successes: undefined };
              const teller = destinationsOf(plan, event).find(({ channel }) => channel === 'C0')?.rule;
              if (told !== undefined && teller === rule) wrong.push({ rules, index, event, eventAccount });
            }
          }
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: countOf({ full: 3_000, share: 600 }) },
    );
    expect(found).toBeGreaterThan(20);
  });

  const all = ruleOf('all', {});
  const successes = ruleOf('successes', { event: 'payment_success' });
  const cards = ruleOf('cards', { event: 'card_saved' });
  const funds = ruleOf('funds', { reasonPart: 'funds' });
  const short = ruleOf('short', { customer: { kind: 'prefix', text: 'V' } });
  const main = ruleOf('main', { account: 'main' });

  // Rules that take only some of the events, or all of them only together, are not named: see the property above.
  it.each<[string, AlertRule, RouteMatch, string | undefined]>([
    ['a broader one', all, { currency: 'NGN' }, 'all'],
    ['a rule that continues', { ...all, continues: true }, { currency: 'NGN' }, undefined],
    ['a rule for successes, which include saved cards', successes, { event: 'card_saved' }, 'successes'],
    ['a rule for saved cards, which are not all successes', cards, { event: 'payment_success' }, undefined],
    ['a shorter prefix', short, { customer: { kind: 'prefix', text: 'VIP-' } }, 'short'],
    ['a part of its reason', funds, { reasonPart: 'insufficient funds' }, 'funds'],
    ['a rule for the same account', main, { account: 'main' }, 'main'],
    ['a rule for another account', main, { account: 'b' }, undefined],
  ])('with %s before it', (_, before, match, inTheWay) => {
    expect(shadowingRule([before, ruleOf('later', match)], 1)?.name).toEqual(inTheWay);
  });
});
