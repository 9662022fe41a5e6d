import { describe, expect, it } from 'vitest';
import { cardsHouse, failed, paidBy, recordOf, type CardsHouse } from '../cards-house.ts';

/** A failure that somebody has in hand; every first line that tells its end. */
async function openedInHand(): Promise<{ house: CardsHouse; ends: () => (string | undefined)[] }> {
  const house = cardsHouse();
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
  await house.cards.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
  await house.drain();
  const ends = () => {
    const [parent] = house.parents();
    const note = parent && house.notes(parent.ts).at(-1);
    return [parent, note, ...house.directs()].map((one) => one?.shown.text);
  };
  return { house, ends };
}

describe('the first line of what a payment made good: in the channel, in its thread and in person', () => {
  it('says of another order’s payment that it was one, and never that the failed order was paid', async () => {
    const { house, ends } = await openedInHand();
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(paidBy('ORDER-2'));
    await house.drain(10_000);
    expect(ends()).toHaveLength(3);
    for (const text of ends()) {
      expect(text).toMatch(/^✅ Resolved by another payment · NGN 12,500\.00 · .* · ORDER-1$/);
    }
  });

  it('names the amount that was paid, where the same order failed with another', async () => {
    const { house, ends } = await openedInHand();
    house.records.set('ORDER-1', { ...recordOf('ORDER-1', 'SUCCESS'), amountMinor: 300_000 });
    await house.receive(paidBy('ORDER-1', { amountMinor: 300_000 }));
    await house.drain(10_000);
    expect(ends()).toHaveLength(3);
    for (const text of ends()) {
      expect(text).toMatch(/^✅ Resolved · Paid \(confirmed\) · NGN 3,000\.00 · .* · ORDER-1$/);
    }
  });
});
