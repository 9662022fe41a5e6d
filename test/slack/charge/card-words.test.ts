import { describe, expect, it } from 'vitest';
import { cardWords } from '../../../src/slack/charge/card-words.ts';

describe('cardWords', () => {
  it('names network, last four and the masked e-mail', () => {
    const face = { cardType: 'Visa', lastFour: '4242' };
    expect(cardWords(face, 'ada@example.com')).toBe('Visa ·· 4242 · a***@example.com');
    expect(cardWords(face)).toBe('Visa ·· 4242');
  });

  it('says what it can of a card of which little is known', () => {
    expect(cardWords({})).toBe('the pasted card');
    expect(cardWords({ cardType: ' ', lastFour: '' }, '')).toBe('the pasted card');
    expect(cardWords({ lastFour: '4242' })).toBe('Card ·· 4242');
    expect(cardWords({ cardType: 'Verve' })).toBe('Verve');
  });

  it('fits a menu, and shows no card number that came as the network’s name', () => {
    const long = cardWords(
      { cardType: '𝒜'.repeat(99), lastFour: '9'.repeat(99) },
      `a@${'x'.repeat(300)}.com`,
    );
    expect(long.length).toBeLessThanOrEqual(75);
    expect(cardWords({ cardType: '4242424242424242' })).not.toContain('4242');
  });
});
