import { describe, expect, it } from 'vitest';
import {
  cardsHouse,
  failed,
  linesOf,
  paidBy,
  pressables,
  recordOf,
  type CardsHouse,
} from '../cards-house.ts';
import { drainKilled, everFewer, killAtEachPoint } from '../killed-house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const channels = ['C0ALERTS01', 'C0OTHERS01'];

function firstWords({ shown }: CardsHouse['messages'][number]): string {
  return shown.text.split(' · ')[0] ?? '';
}

/** In the hands of two, told in two channels, and paid. */
async function paidInHand(house: CardsHouse, reference: string): Promise<void> {
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
  await house.cards.move(failed.key, { kind: 'acknowledge', by: ada });
  await house.cards.move(failed.key, { kind: 'assign', by: ada, to: bola });
  await house.drain(10_000);
  house.records.set(reference, recordOf(reference, 'SUCCESS'));
  await house.receive(paidBy(reference));
}

describe.each([
  ['of the same order', 'ORDER-1'],
  ['of another order of the customer', 'ORDER-2'],
])('a payment %s, wherever the process is killed', (_which, reference) => {
  it('resolves the card once in each channel, and is told once to both who had it in hand', async () => {
    const kills = await killAtEachPoint(async (killAt) => {
      const one = cardsHouse(undefined, channels);
      const two = cardsHouse(one.path, channels, one);
      await paidInHand(one, reference);
      const survived = await drainKilled(one, killAt, 30_000);
      one.clock.nowMs += 60_000;
      await two.drain(90_000);
      expect(two.parents()).toHaveLength(2);
      for (const parent of two.parents()) {
        expect(firstWords(parent)).toMatch(/^✅ Resolved/);
        expect(linesOf(parent)).not.toContain('may repeat');
        expect(pressables(parent)).toEqual([]);
        const notes = two.notes(parent.ts).map(firstWords);
        expect(notes).toEqual(['👀 Acknowledged', '👤 Assigned', expect.stringMatching(/^✅ Resolved/)]);
      }
      const told = two.directs().filter((direct) => firstWords(direct).startsWith('✅'));
      expect(told.map(({ channel }) => channel).toSorted()).toEqual([ada, bola]);
      await Promise.all([one.store.close(), two.store.close()]);
      return survived;
    }, everFewer);
    expect(kills).toBeGreaterThan(20);
  });
});

describe('a payment whose event comes before its failure’s, wherever the process is killed', () => {
  it('stands in the first post, once', async () => {
    const kills = await killAtEachPoint(async (killAt) => {
      const one = cardsHouse();
      const two = cardsHouse(one.path, undefined, one);
      one.records.set('ORDER-1', recordOf('ORDER-1', 'SUCCESS'));
      await one.receive(paidBy('ORDER-1'));
      await one.receive(failed);
      const survived = await drainKilled(one, killAt, 20_000);
      one.clock.nowMs += 60_000;
      await two.drain(90_000);
      expect(two.parents().map(firstWords)).toEqual(['✅ Resolved']);
      expect(two.parents().map(pressables)).toEqual([[]]);
      expect(two.directs()).toEqual([]);
      await Promise.all([one.store.close(), two.store.close()]);
      return survived;
    }, everFewer);
    expect(kills).toBeGreaterThan(15);
  });
});
