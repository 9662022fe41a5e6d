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

function at(now: number, ...history: CardAttempt[]): ReturnType<typeof mayTry> {
  return mayTry(history, defaultRetryRule, now);
}

describe('mayTry', () => {
  it('allows a card that was never declined', () => {
    expect(at(start)).toEqual({ kind: 'allowed', attemptsLeft: 3 });
    expect(at(start, attempt('approved', start - hour))).toEqual({ kind: 'allowed', attemptsLeft: 3 });
  });

  it('lets a card rest for 24 hours after a decline, and says from when', () => {
    const decline = attempt('declined', start);
    expect(at(start + day - 1, decline)).toEqual({
      kind: 'resting',
      nextTryFrom: start + day,
      attemptsLeft: 2,
    });
    expect(at(start + day, decline)).toEqual({ kind: 'allowed', attemptsLeft: 2 });
  });

  it('counts the rest from the last decline, in whatever order the history stands', () => {
    const declines = [attempt('declined', start + day), attempt('declined', start)];
    expect(at(start + day + hour, ...declines)).toMatchObject({
      kind: 'resting',
      nextTryFrom: start + 2 * day,
    });
  });

  it('stops after three declines until the first of them is forgotten', () => {
    const declines = [0, 1, 2].map((days) => attempt('declined', start + days * day));
    const nextTryFrom = start + 30 * day;
    expect(at(start + 10 * day, ...declines)).toEqual({ kind: 'stopped', declines: 3, nextTryFrom });
    expect(at(nextTryFrom, ...declines)).toEqual({ kind: 'allowed', attemptsLeft: 1 });
  });

  it('starts anew after an approval', () => {
    const history = [attempt('declined', start), attempt('approved', start + hour)];
    expect(at(start + 2 * hour, ...history)).toEqual({ kind: 'allowed', attemptsLeft: 3 });
  });

  it('does not count what neither bank nor card refused', () => {
    expect(at(start, attempt('cleared', start - 1))).toEqual({ kind: 'allowed', attemptsLeft: 3 });
  });

  it('waits for a charge under way once the card was declined, and for the last attempt of any card', () => {
    const pending = attempt('pending', start + 2 * day);
    const now = start + 2 * day + 1;
    expect(at(now, pending)).toEqual({ kind: 'allowed', attemptsLeft: 2 });
    expect(at(now, attempt('declined', start), pending)).toEqual({
      kind: 'under_way',
      reference: pending.reference,
    });
    expect(at(now, pending, { ...pending }, { ...pending })).toMatchObject({ kind: 'under_way' });
  });

  it('counts a charge that is under way though another was approved meanwhile', () => {
    const pending = [0, 1, 2].map((ms) => attempt('pending', start + ms));
    expect(at(start + hour, ...pending, attempt('approved', start + 10))).toMatchObject({
      kind: 'under_way',
    });
  });

  it('sends a 3-D Secure refusal to a new card-saving payment, however long ago', () => {
    expect(at(start + 365 * day, attempt('three_d_secure', start))).toEqual({ kind: 'save_again' });
  });

  it('never lets more than three declines happen within 30 days, nor two within 24 hours', () => {
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

  it('says a time from which it does allow', () => {
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
