import { describe, expect, it } from 'vitest';
import { cardsHouse, failed, recordOf, type CardsHouse } from '../cards-house.ts';
import { createAlertCards } from '../../../src/operations/alert/alert-cards.ts';
import { lookUpEvent } from '../../../src/operations/alert/look-up-event.ts';
import { sealer } from '../house.ts';

const { key: id } = failed;

async function posted(): Promise<CardsHouse> {
  const house = cardsHouse();
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
  return house;
}

async function verdictOf({ cards }: CardsHouse): Promise<string | undefined> {
  return (await cards.find(id))?.evidence?.lookup.kind;
}

describe('what is known of an alert', () => {
  it('is the look-up of the message that took another’s place, where a person asked before that', async () => {
    const house = await posted();
    house.clock.nowMs += 60_000;
    await house.cards.lookUpNow(id);
    await house.drain();
    expect(await verdictOf(house)).toBe('not_confirmed');
    // It was paid meanwhile, and its message is posted anew, looked up once more.
    house.records.set('ORDER-1', recordOf('ORDER-1', 'SUCCESS'));
    const [parent] = house.parents();
    if (parent) parent.closed = 'edit_window_closed';
    await house.cards.move(id, { kind: 'acknowledge', by: 'U0ADA00001' });
    await house.drain(60_000);
    expect(house.parents().at(-1)?.shown.text).toContain('look-up says Paid (confirmed)');
    // The old message still has its buttons: nothing is charged again by them.
    expect(await verdictOf(house)).toBe('confirmed');
  });

  it('is the look-up that was asked last, not the one that took longest', async () => {
    const house = await posted();
    const asked = Promise.withResolvers<void>();
    const slow = Promise.withResolvers<void>();
    const cards = createAlertCards({
      store: house.store,
      sealer,
      storms: house.storms,
      async lookUp(event) {
        const found = house.records.get('ORDER-1');
        asked.resolve();
        if (found?.status === 'FAILED') await slow.promise;
        return await lookUpEvent(() => Promise.resolve(found), event);
      },
      hasEnded: () => Promise.resolve(undefined),
      rememberMs: 86_400_000,
      now: () => house.clock.nowMs,
      wake: () => undefined,
      log: () => undefined,
    });
    house.clock.nowMs += 60_000;
    const first = cards.lookUpNow(id);
    await asked.promise;
    house.records.set('ORDER-1', recordOf('ORDER-1', 'SUCCESS'));
    house.clock.nowMs += 1_000;
    await cards.lookUpNow(id);
    house.clock.nowMs += 1_000;
    slow.resolve();
    await first;
    expect(await verdictOf(house)).toBe('confirmed');
  });
});
