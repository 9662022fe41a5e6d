import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handlersOf, moveCard, type CardMove } from '../../../src/features/alerts/alert.ts';
import type { AlertCard } from '../../../src/domain/alert.ts';

const ada = 'U0ADA';
const bola = 'U0BOLA';
const payment = {
  reference: 'ORDER-2',
  isSameReference: false,
  money: { minor: 500, currency: 'NGN' },
  afterMs: 60_000,
};
const open: AlertCard = { kind: 'open' };
const taken: AlertCard = { kind: 'acknowledged', by: ada, at: 1 };

function after(card: AlertCard, move: CardMove, at = 10): AlertCard {
  const moved = moveCard(card, move, at);
  if (moved.kind === 'refused') throw new Error(moved.why);
  return moved.card;
}

describe('moveCard', () => {
  it('ends a snooze at its time and not before', () => {
    const snoozed = after(taken, { kind: 'snooze', by: ada, forMs: 1_000 }, 10);
    expect(moveCard(snoozed, { kind: 'wake' }, 1_009)).toEqual({ kind: 'refused', why: 'nothing_new' });
    expect(after(snoozed, { kind: 'wake' }, 1_010)).toEqual(taken);
  });

  it('keeps who had it in hand when it ends', () => {
    const assigned = after(taken, { kind: 'assign', by: ada, to: bola });
    expect(handlersOf(after(assigned, { kind: 'recover', payment }))).toEqual([ada, bola]);
    expect(handlersOf(after(assigned, { kind: 'close', by: bola, reason: 'x' }))).toEqual([ada, bola]);
    expect(handlersOf(after(open, { kind: 'recover', payment }))).toEqual([]);
  });

  it('agrees with a plain list of what was done, whatever is done in whatever order', () => {
    const people = fc.constantFrom(ada, bola, 'U0CLICK');
    const moves = fc.oneof<fc.Arbitrary<CardMove>[]>(
      fc.record({ kind: fc.constant('acknowledge'), by: people }),
      fc.record({ kind: fc.constant('assign'), by: people, to: people }),
      fc.record({ kind: fc.constant('snooze'), by: people, forMs: fc.integer({ min: -5, max: 400 }) }),
      fc.constant({ kind: 'wake' }),
      fc.record({ kind: fc.constant('close'), by: people, reason: fc.string() }),
      fc.constant({ kind: 'recover', payment }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(moves, fc.integer({ min: 0, max: 200 })), { maxLength: 30 }), (story) => {
        let card: AlertCard = open;
        const done: CardMove['kind'][] = [];
        let at = 0;
        for (const [move, passed] of story) {
          at += passed;
          const hasEnded = done.includes('close') || done.includes('recover');
          const isTaken = done.includes('acknowledge');
          const moved = moveCard(card, move, at);
          const may =
            !hasEnded &&
            (move.kind === 'acknowledge' ? !isTaken : ['close', 'recover'].includes(move.kind) || isTaken);
          // Refused though it may: the same assignee again, or a snooze that is not over.
          const isIdle = moved.kind === 'refused' && moved.why === 'nothing_new';
          expect(moved.kind === 'moved' || isIdle).toBe(may);
          if (moved.kind === 'refused') continue;
          expect(moved.step.at).toBe(at);
          done.push(move.kind);
          card = moved.card;
          const until = card.kind === 'acknowledged' ? (card.snoozedUntil ?? 0) : 0;
          expect(until).toBeLessThanOrEqual(at + 7 * 86_400_000);
        }
        const last = done.findLast((kind) => ['acknowledge', 'close', 'recover'].includes(kind));
        const ends = { acknowledge: 'acknowledged', close: 'closed', recover: 'recovered' } as const;
        expect(card.kind).toBe(last ? ends[last as keyof typeof ends] : 'open');
      }),
      { numRuns: 500 },
    );
  });
});
