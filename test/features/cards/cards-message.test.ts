import { expect, it } from 'vitest';
import { cardsMessage } from '../../../src/features/cards/cards-message.ts';

const at = {
  shownAccount: { environment: 'live', account: 'Lagos store' },
  may: { charge: true },
  canOffer: true,
  nowMs: 1_900_000_000_000,
} as const;
const face = { cardType: 'Visa', lastFour: '1127' };

it('shows fingerprints only of cards that look alike', () => {
  const cards = [
    { fingerprint: 'a'.repeat(32), face, expiry: '12/29', customerEmail: 'ada@example.com' },
    { fingerprint: 'b'.repeat(32), face, expiry: '01/30', customerEmail: 'ada@example.com' },
    { fingerprint: 'c'.repeat(32), face, expiry: '12/29', customerEmail: 'ada@example.com' },
  ];
  const listing = { list: 'f'.repeat(32), email: 'ada@example.com', total: 3, cards };
  const shown = JSON.stringify(cardsMessage(listing, at));
  expect(shown.match(/Token fingerprint/g)).toHaveLength(2);
  expect(shown).toContain('a'.repeat(12));
  expect(shown).toContain('c'.repeat(12));
  expect(shown).not.toContain('b'.repeat(12));
});
