import { describe, expect, it } from 'vitest';
import { faceOf } from '../../src/domain/card.ts';

function lastFour(cardPan: string): string | undefined {
  return faceOf({ tokenKey: 't', cardPan }).lastFour;
}

describe('faceOf', () => {
  it.each([
    '506099******4081',
    '4081',
    '**** **** **** 4081',
    'XXXX-XXXX-XXXX-4081',
    '5060 99** **** 40-81',
    'ending in 4081 ',
    '•••• ４０８１',
    '****99994081',
  ])('takes the last four digits of %s', (cardPan) => {
    expect(lastFour(cardPan)).toBe('4081');
  });

  it('keeps four digits of a whole card number, and nothing else', () => {
    expect(faceOf({ tokenKey: 't', cardPan: '4242 4242 4242 4242' })).toEqual({ lastFour: '4242' });
  });

  it.each(['', '***', '506099******', '**** 081', '4081 (12/29)', '4081****'])(
    'takes none from %j, which does not end in the last four digits',
    (cardPan) => {
      expect(lastFour(cardPan)).toBeUndefined();
    },
  );

  it('has the type as it was told, and none that holds a card number', () => {
    expect(faceOf({ tokenKey: 't', cardType: ' Visa ' })).toEqual({ cardType: 'Visa' });
    expect(faceOf({ tokenKey: 't', cardType: 'Visa 4242424242424242' })).toEqual({});
    expect(faceOf({ tokenKey: 't', cardType: ' ' })).toEqual({});
  });
});
