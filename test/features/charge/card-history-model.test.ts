import { isDeepStrictEqual } from 'node:util';
import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
  tuple,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mayTry,
  type CardAttempt,
  type CardClaim,
  type CardHistory,
  type ClaimResult,
} from '../../../src/features/charge/card-history.ts';
import type { Twin } from '../../../src/domain/charge.ts';
import { defaultRetryRule, type RetryVerdict } from '../../../src/domain/decline-reason.ts';
import { countOf } from '../../support/counts.ts';
import { card, claimOf, day, hour, minute, ref, till, twinMs } from '../till.ts';

type Kept = CardAttempt & { begunAt: number; minor: number; by: string };

/** The rules as a simple model: one process that remembers everything for ever. */
class PlainHistory {
  attempts: Kept[] = [];
  private readonly charges: Set<string>;
  constructor(charges: Set<string>) {
    this.charges = charges;
  }

  private isLost(attempt: Kept, now: number): boolean {
    const isOld = now - attempt.begunAt >= 5 * minute;
    return attempt.outcome === 'pending' && isOld && !this.charges.has(attempt.reference);
  }

  private seen(now: number): Kept[] {
    return this.attempts.map((attempt) =>
      this.isLost(attempt, now) ? { ...attempt, outcome: 'cleared', at: now } : attempt,
    );
  }

  mayTry(now: number): RetryVerdict {
    return mayTry(this.seen(now), defaultRetryRule, now);
  }

  claim({ reference, money, by, despite = [], readAtMs }: CardClaim, now: number): ClaimResult {
    const since = (readAtMs ?? now) - twinMs;
    const all = this.seen(now);
    const own = all.find((attempt) => attempt.reference === reference);
    if (own && this.charges.has(reference)) return { kind: 'claimed' };
    if (own?.outcome === 'pending' && now - own.begunAt < minute) return { kind: 'claimed' };
    const others = all.filter((attempt) => attempt !== own);
    const named = (one: Kept) => ({ reference: ref(one.reference), by: one.by, at: one.begunAt });
    const open = others.find((one) => one.outcome === 'pending' && one.minor === money.minor);
    if (open) return { kind: 'refused', refusal: { kind: 'under_way', ...named(open) } };
    const verdict = mayTry(others, defaultRetryRule, now);
    if (verdict.kind === 'under_way') {
      const found = others.find((one) => one.reference === verdict.reference)!;
      return { kind: 'refused', refusal: { kind: 'under_way', ...named(found) } };
    }
    if (verdict.kind !== 'allowed') return { kind: 'refused', refusal: verdict };
    const twins = others.filter(
      (one) =>
        one.outcome !== 'pending' &&
        one.minor === money.minor &&
        (one.outcome === 'approved' ? one.at : one.begunAt) > since,
    );
    const unseen = twins.filter((twin) => !despite.includes(`${twin.reference} (${twin.outcome})`));
    if (unseen.length > 0) {
      const newestFirst = unseen.toSorted((a, b) => b.begunAt - a.begunAt);
      return {
        kind: 'twin',
        twins: newestFirst.map((twin) => ({ ...named(twin), outcome: twin.outcome as Twin['outcome'] })),
      };
    }
    const attempt: Kept = { reference, begunAt: now, at: now, outcome: 'pending', minor: money.minor, by };
    this.attempts = [...others, attempt];
    return { kind: 'claimed' };
  }

  settle(reference: string, outcome: Twin['outcome'], now: number): void {
    const own = this.attempts.find((attempt) => attempt.reference === reference);
    if (!own || own.outcome === outcome) return;
    const told = this.attempts.filter((attempt) => attempt !== own && attempt.outcome !== 'pending');
    own.at = Math.max(now, ...told.map((attempt) => attempt.at + 1));
    own.outcome = outcome;
  }
}

const count = 10;
const reference = constantFrom(...Array.from({ length: count }, (_, index) => `pay-${index}`));
const replica = constantFrom(0, 1);
const outcome = oneof(
  { weight: 8, arbitrary: constant<Twin['outcome']>('declined') },
  { weight: 6, arbitrary: constantFrom<Twin['outcome'][]>('approved', 'cleared') },
  { weight: 1, arbitrary: constant<Twin['outcome']>('three_d_secure') },
);
const minor = constantFrom(100, 200, 300);
const despite = array(
  tuple(reference, outcome).map(([named, as]) => `${named} (${as})`),
  { maxLength: 3 },
);
/** How long before the claim the terms were read. */
const readAgoMs = oneof(
  constant(0),
  integer({ min: 0, max: 30 * minute }),
  integer({ min: 0, max: 7 * day }),
);
/** Claims and stores a charge, unless the process dies in between; its outcome comes at once or later. */
const step = oneof(
  {
    weight: 3,
    arbitrary: record({
      kind: constant('charge' as const),
      reference,
      minor,
      despite,
      readAgoMs,
      outcome,
      replica,
    }),
  },
  {
    weight: 2,
    arbitrary: record({ kind: constant('begin' as const), reference, minor, despite, readAgoMs, replica }),
  },
  {
    weight: 1,
    arbitrary: record({ kind: constant('die' as const), reference, minor, despite, readAgoMs, replica }),
  },
  { weight: 3, arbitrary: record({ kind: constant('settle' as const), reference, outcome, replica }) },
  {
    weight: 2,
    arbitrary: record({ kind: constant('pass' as const), ms: integer({ min: 1, max: 6 * minute }) }),
  },
  {
    weight: 4,
    arbitrary: record({ kind: constant('pass' as const), ms: integer({ min: 23 * hour, max: 26 * hour }) }),
  },
  {
    weight: 1,
    arbitrary: record({ kind: constant('pass' as const), ms: integer({ min: 25 * day, max: 40 * day }) }),
  },
);

type Move = typeof step extends { generate: (...args: never[]) => { value: infer Value } } ? Value : never;

/** `expect` takes longer than all that is compared here, so only a difference reaches it. */
function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** Runs the command on both, and returns the model's answer. */
function sideBySide() {
  const { clock, charges, history, other } = till();
  const plain = new PlainHistory(charges);
  /** The record drops what no longer counts. (No dialogue is open for a month.) */
  function isPast(one: string): boolean {
    const known = plain.attempts.find((attempt) => attempt.reference === one);
    return known !== undefined && known.outcome !== 'pending' && clock.nowMs - known.at >= 30 * day;
  }
  async function claim(one: Extract<Move, { despite: unknown }>, at: CardHistory): Promise<string> {
    const { despite, readAgoMs } = one;
    const given = claimOf(one.reference, one.minor, { despite, readAtMs: clock.nowMs - readAgoMs });
    const expected = plain.claim(given, clock.nowMs);
    expectSame(await at.claim(given), expected);
    if (expected.kind === 'claimed' && one.kind !== 'die') charges.add(one.reference);
    return expected.kind === 'refused' ? expected.refusal.kind : expected.kind;
  }
  async function move(one: Move): Promise<string | undefined> {
    if (one.kind === 'pass') {
      clock.nowMs += one.ms;
      return undefined;
    }
    const at = one.replica === 0 ? history : other;
    if (isPast(one.reference)) return undefined;
    const answer = one.kind === 'settle' ? undefined : await claim(one, at);
    if ((one.kind === 'settle' || one.kind === 'charge') && charges.has(one.reference)) {
      plain.settle(one.reference, one.outcome, clock.nowMs);
      await at.settle(card, ref(one.reference), one.outcome);
    }
    expectSame(await history.mayTry(card), plain.mayTry(clock.nowMs));
    expectSame(await other.mayTry(card), plain.mayTry(clock.nowMs));
    return answer;
  }
  return move;
}

describe('createCardHistory', () => {
  it('answers as the model does, for any order of events on two replicas', async () => {
    const answers = new Map<string, number>();
    await assert(
      asyncProperty(array(step, { minLength: 10, maxLength: 80, size: 'max' }), async (steps) => {
        const move = sideBySide();
        for (const one of steps) {
          const answer = await move(one);
          if (answer !== undefined) answers.set(answer, (answers.get(answer) ?? 0) + 1);
        }
      }),
      { numRuns: countOf({ full: 1_500, share: 500 }) },
    );
    // Each rule must have been used, or the agreement would say nothing about it.
    const met = ['claimed', 'on_hold', 'save_again', 'stopped', 'twin', 'under_way'];
    expect([...answers.keys()].toSorted()).toEqual(met);
  });
});
