import { describe, expect, it } from 'vitest';
import { cardsHouse, failed } from '../cards-house.ts';
import { onBothStores } from '../two-stores.ts';
import { createAlertCases } from '../../../src/features/alerts/alert-case.ts';
import { createAlertCards, type AlertCards } from '../../../src/features/alerts/alert-cards.ts';
import { alertKey, unsaid, writeMessageRecord } from '../../../src/messages/message-record.ts';
import type { Store } from '../../../src/store/store.ts';
import { noStorms, sealer } from '../house.ts';

const ada = 'U0ADA00001';
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

const now = (): number => Date.now();

function replica(store: Store): AlertCards {
  const shared = { store, sealer, now };
  const alerts = createAlertCases({
    ...shared,
    storms: noStorms,
    rememberMs: 86_400_000,
    leaseMs: 45_000,
    wake: () => undefined,
    wait: () => Promise.resolve(),
  });
  return createAlertCards({
    ...shared,
    alerts,
    storms: noStorms,
    lookUp: () => Promise.reject(new Error('nothing is looked up here')),
    hasEnded: () => Promise.resolve(undefined),
  });
}

async function received(store: Store, card: string): Promise<void> {
  const alert = { kind: 'alert', channel: 'C0ALERTS01', receivedAtMs: 0, sealed: '' } as const;
  await store.create(alertKey(card), writeMessageRecord({ ...alert, ...unsaid }), {});
}

onBothStores('clicks at the same time on two replicas', (open) => {
  it('make one decision of 100 on each replica, and all the others are told who was first', async () => {
    const { one, two, close } = await open();
    const replicas = [replica(one), replica(two)];
    await received(one, id);
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
