import { describe, expect, it } from 'vitest';
import { cardsHouse, failed } from '../cards-house.ts';
import { onBothStores } from '../two-stores.ts';
import { createAlertCards } from '../../../src/features/alerts/alert-cards.ts';
import { alertKey } from '../../../src/messages/outbox.ts';
import { noStorms, sealer } from '../house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const id = failed.key;

describe('the card of a failed charge', () => {
  it('says that an alert is not known any more instead of making a card of nothing', async () => {
    const { cards, store } = cardsHouse();
    expect(await cards.move('payment_failed/order/OLD', { kind: 'acknowledge', by: ada })).toEqual({
      kind: 'unknown_alert',
    });
    expect(await cards.lookUpNow('payment_failed/order/OLD')).toBeUndefined();
    expect(await store.read('alert:payment_failed/order/OLD')).toBeUndefined();
  });
});

const hasEnded = () => Promise.resolve(undefined);

onBothStores('clicks at the same time on two replicas', (open) => {
  it('make one decision each of 200 times, and the other is told who was first', async () => {
    const { one, two, close } = await open();
    const shared = {
      sealer,
      storms: noStorms,
      leaseMs: 45_000,
      lookUp: () => Promise.reject(new Error('nothing is looked up here')),
      hasEnded,
      rememberMs: 86_400_000,
      now: () => Date.now(),
      wake: () => undefined,
      log: () => undefined,
    };
    const [left, right] = [one, two].map((store) => createAlertCards({ ...shared, store })) as [
      ReturnType<typeof createAlertCards>,
      ReturnType<typeof createAlertCards>,
    ];
    const winners = new Set<string>();
    for (let round = 0; round < 200; round += 1) {
      const card = `payment_failed/order/R${round}`;
      await one.create(alertKey(card), 'an alert', {});
      const results = await Promise.all([
        left.move(card, { kind: 'acknowledge', by: ada }),
        right.move(card, { kind: 'acknowledge', by: bola }),
      ]);
      const moved = results.filter(({ kind }) => kind === 'moved');
      expect(moved).toHaveLength(1);
      const refused = results.find(({ kind }) => kind === 'refused');
      const first = results[0]?.kind === 'moved' ? ada : bola;
      expect(refused).toMatchObject({ why: 'taken', card: { kind: 'acknowledged', by: first } });
      expect((await left.read(card)).card).toMatchObject({ by: first });
      winners.add(first);
    }
    expect(winners.size).toBeGreaterThan(0);
    await close();
  });

  it('make one decision of 100 on each replica, and all the others are told who was first', async () => {
    const { one, two, close } = await open();
    const replicas = [one, two].map((store) =>
      createAlertCards({
        store,
        sealer,
        storms: noStorms,
        leaseMs: 45_000,
        lookUp: () => Promise.reject(new Error('nothing is looked up here')),
        hasEnded,
        rememberMs: 86_400_000,
        now: () => Date.now(),
        wake: () => undefined,
        log: () => undefined,
      }),
    );
    await one.create(alertKey(id), 'an alert', {});
    const clicks = await Promise.all(
      replicas.flatMap((cards, replica) =>
        Array.from({ length: 100 }, async (_, nth) => {
          const by = `U${replica}${String(nth).padStart(3, '0')}`;
          return { by, result: await cards.move(id, { kind: 'acknowledge', by }) };
        }),
      ),
    );
    const winners = clicks.filter(({ result }) => result.kind === 'moved');
    expect(winners).toHaveLength(1);
    const [first] = winners;
    for (const { result } of clicks.filter(({ by }) => by !== first?.by)) {
      expect(result).toMatchObject({ kind: 'refused', why: 'taken', card: { by: first?.by } });
    }
    await close();
  });
});
