import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fits,
  termsOfCard,
  termsOfWords,
  wordsIn,
  type Findable,
} from '../../../src/features/cards/card-ledger.ts';

const text = fc.string({
  unit: fc.constantFrom('a', 'B', '4', '0', '@', '.', ' ', 'é', '支', '🧾'),
  maxLength: 14,
});
const cards: fc.Arbitrary<Findable> = fc.record(
  { face: fc.record({ cardType: text, lastFour: text }, { requiredKeys: [] }), customerEmail: text },
  { requiredKeys: ['face'] },
);

describe('the terms of a card', () => {
  it('have every card that fits the words, under each word', () => {
    fc.assert(
      fc.property(cards, fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 4 }), (card, cuts) => {
        const told = [card.customerEmail, card.face.cardType, card.face.lastFour].join(' ');
        const words = wordsIn(cuts.map(([from, length]) => told.slice(from, from + length)).join(' '));
        fc.pre(fits(card, words));
        const listed = new Set(termsOfCard(card));
        for (const terms of termsOfWords(words)) expect(terms.some((term) => listed.has(term))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('are its digits, its type and its address from two characters on, and one for every card', () => {
    const card = { face: { cardType: 'Visa', lastFour: '4081' }, customerEmail: 'Ada.L@Example.com' };
    expect(new Set(termsOfCard(card))).toEqual(
      new Set(
        ', ada.l@example.com,40,408,4081,vi,vis,visa,ad,ada,ada.,ada.l,ada.l@,ada.l@e,ada.l@ex'.split(','),
      ),
    );
  });
});
