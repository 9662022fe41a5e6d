import { describe, expect, it } from 'vitest';
import { createAlertRecovery, paymentPrefix } from '../../../src/operations/alert/alert-recovery.ts';
import { cardsHouse, failed, paidBy, recordOf } from '../cards-house.ts';
import { sealer } from '../house.ts';

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

describe('a failure whose event names nobody, which the service shows a moment later', () => {
  it('is made good by a payment of its customer all the same', async () => {
    const house = cardsHouse();
    await house.receive(nameless);
    await house.drain(20_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^🔎 Event says failed, look-up says Not found/);
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    await house.drain(60_000);
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(paidBy('ORDER-2'));
    await house.drain(20_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Recovered/);
  });

  it('is asked for a few times alone when the service never shows it', async () => {
    const house = cardsHouse();
    await house.receive(nameless);
    await house.drain(3_600_000);
    expect(house.service.asked).toBeGreaterThan(1);
    expect(house.service.asked).toBeLessThan(8);
    expect(await house.store.read(paymentPrefix + failed.key)).toBeUndefined();
  });

  it('is not asked for where a digest alone tells it: a storm would ask for each', async () => {
    const house = cardsHouse(undefined, undefined, undefined, 1);
    const { amountMinor: _amount, reason: _reason, ...silent } = nameless;
    for (const reference of ['ORDER-1', 'ORDER-2', 'ORDER-3']) {
      // oxlint-disable-next-line no-await-in-loop -- in their order
      await house.receive({ ...silent, key: `payment_failed/order/${reference}`, orderReference: reference });
    }
    await house.drain(3_600_000);
    expect(house.parents().map(({ shown }) => shown.text.split(' · ')[0])).toEqual([
      '🔎 Event says failed, look-up says Not found',
      '☑️ Storm over: 2 failed charges',
    ]);
    // One look-up each, and a few more for the one that has a message.
    expect(house.service.asked).toBeLessThan(10);
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
