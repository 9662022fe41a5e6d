import { array, assert, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayTry, type CardAttempt } from '../../../src/features/charge/card-history.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { defaultRetryRule } from '../../../src/domain/decline-reason.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = 1_800_000_000_000;

function attempt(outcome: CardAttempt['outcome'], at: number): CardAttempt {
  return { reference: `pay-${at}` as OrderReference, outcome, at };
}

function allowed(attemptsLeft: number) {
  return { kind: 'allowed', attemptsLeft };
}

describe('mayTry', () => {
  const declined = attempt('declined', start);
  const thrice = [0, 1, 2].map((days) => attempt('declined', start + days * day));
  const [first, second, third] = [0, 1, 2].map((ms) => attempt('pending', start + ms)) as [
    CardAttempt,
    CardAttempt,
    CardAttempt,
  ];
  const onHold = { kind: 'on_hold', nextTryFrom: start + day, attemptsLeft: 2 };
  it.each<[string, number, CardAttempt[], object]>([
    ['allows a card that was never declined', start, [], allowed(3)],
    ['holds a card for a day after a decline', start + day - 1, [declined], onHold],
    ['and not longer', start + day, [declined], allowed(2)],
    [
      'counts the hold from the last decline, in any order',
      start + day + hour,
      [attempt('declined', start + day), declined],
      { kind: 'on_hold', nextTryFrom: start + 2 * day, attemptsLeft: 1 },
    ],
    [
      'stops after three declines',
      start + 10 * day,
      thrice,
      { kind: 'stopped', declines: 3, nextTryFrom: start + 30 * day },
    ],
    ['until the first of them is forgotten', start + 30 * day, thrice, allowed(1)],
    ['starts again after an approval', start + 2, [declined, attempt('approved', start + 1)], allowed(3)],
    ['does not count what neither bank nor card refused', start, [attempt('cleared', start - 1)], allowed(3)],
    ['counts a charge under way', start + 1, [first], allowed(2)],
    [
      'waits for the open charge if the card was declined before',
      start + day,
      [attempt('declined', start - 1), first],
      { kind: 'under_way', reference: first.reference },
    ],
    [
      'waits for the open charge at the last attempt, even if another was approved meanwhile',
      start + hour,
      [first, second, third, attempt('approved', start + 10)],
      { kind: 'under_way', reference: first.reference },
    ],
    [
      'requires the card to be saved again after 3-D Secure, also after a year',
      start + 365 * day,
      [attempt('three_d_secure', start)],
      { kind: 'save_again' },
    ],
  ])('%s', (_, now, history, verdict) => {
    expect(mayTry(history, defaultRetryRule, now)).toEqual(verdict);
  });

  it('never allows more than three declines within 30 days, nor two within 24 hours', () => {
    const waits = array(integer({ min: 0, max: 3 * day }), { maxLength: 60 });
    const outcomes = array(constantFrom('declined' as const, 'cleared' as const), {
      minLength: 60,
      maxLength: 60,
    });
    assert(
      property(waits, outcomes, (gaps, results) => {
        const history: CardAttempt[] = [];
        let now = start;
        for (const [index, gap] of gaps.entries()) {
          now += gap;
          if (mayTry(history, defaultRetryRule, now).kind !== 'allowed') continue;
          history.push(attempt(results[index] ?? 'declined', now));
        }
        const declines = history.filter(({ outcome }) => outcome === 'declined').map((entry) => entry.at);
        for (const [index, time] of declines.entries()) {
          expect((declines[index + 1] ?? Infinity) - time).toBeGreaterThanOrEqual(day);
          expect((declines[index + 3] ?? Infinity) - time).toBeGreaterThanOrEqual(30 * day);
        }
      }),
    );
  });

  it('names a time from which it allows a charge', () => {
    const waits = array(integer({ min: 0, max: 3 * day }), { minLength: 1, maxLength: 8 });
    assert(
      property(waits, (gaps) => {
        let now = start;
        const history = gaps.map((gap) => attempt('declined', (now += gap)));
        const verdict = mayTry(history, defaultRetryRule, now);
        if (!('nextTryFrom' in verdict)) throw new Error(`A declined card is ${verdict.kind} at once.`);
        expect(mayTry(history, defaultRetryRule, verdict.nextTryFrom - 1).kind).not.toBe('allowed');
        expect(mayTry(history, defaultRetryRule, verdict.nextTryFrom).kind).toBe('allowed');
      }),
    );
  });
});
