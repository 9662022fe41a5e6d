import { describe, expect, it } from 'vitest';
import { createAlertRecovery, paymentPrefix } from '../../src/operations/alert-recovery.ts';
import { cardsHouse, failed, paidBy, recordOf } from './cards-house.ts';
import { sealer } from './house.ts';

const { customerId: _id, customerEmail: _email, ...nameless } = failed;

describe('a failure whose event names nobody, told while the service could not be asked', () => {
  it.each([
    ['a payment of its customer that comes later', 60_000],
    ['one that came before the service answered', 0],
  ])('is made good by %s', async (_which, backForMs) => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    house.service.isAway = true;
    await house.receive(nameless);
    await house.drain(60_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^❔ Event says failed, not checked/);
    if (backForMs > 0) {
      house.service.isAway = false;
      await house.drain(backForMs);
    }
    await house.receive(paidBy('ORDER-2'));
    await house.drain(20_000);
    house.service.isAway = false;
    await house.drain(300_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Recovered/);
    expect(await house.store.read(paymentPrefix + failed.key)).toBeUndefined();
  });

  it('asks no more once the service has answered', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    house.service.isAway = true;
    await house.receive(nameless);
    await house.drain(20_000);
    house.service.isAway = false;
    await house.drain(300_000);
    const { asked } = house.service;
    await house.drain(3_600_000);
    expect(house.service.asked).toBe(asked);
  });
});

describe('a failure that comes while a payment of its customer is being held against others', () => {
  it('is found by that payment, though its worker ends in the very moment that it is to look again', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    const { store } = house;
    let isRaced = false;
    const racing = createAlertRecovery({
      store: {
        ...store,
        async write(entry, value, options) {
          if (entry.key.startsWith(paymentPrefix) && !isRaced) {
            isRaced = true;
            // Its worker has found nothing, and is done with it.
            await store.write(entry, value, { ttlMs: 86_400_000 });
          }
          return await store.write(entry, value, options);
        },
      },
      sealer,
      cards: house.cards,
      chargedCard: () => Promise.resolve(undefined),
      fingerprint: (text) => Promise.resolve(text.replaceAll('\0', '|')),
      lookUp: () => Promise.reject(new Error('nobody asks here')),
      rememberMs: 86_400_000,
      now: () => house.clock.nowMs,
      log: () => undefined,
    });
    await house.receive(paidBy('ORDER-1'));
    await racing.linkFailure(failed, { kind: 'not_found' }, house.clock.nowMs);
    expect(isRaced).toBe(true);
    // Due once more: whoever takes it now finds the failure.
    house.clock.nowMs += 10_000;
    const due = [...(await store.take(1_000)), ...(await store.take(1_000))];
    expect(due.map(({ key }) => key)).toContain(`${paymentPrefix}payment_success/order/ORDER-1`);
  });
});
