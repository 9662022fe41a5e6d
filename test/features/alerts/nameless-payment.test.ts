import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { cardsHouse, failed, linesOf, paidBy, recordOf } from '../cards-house.ts';

function nameless(reference: string): PaymentEvent {
  const { customerId: _id, customerEmail: _email, ...bare } = paidBy(reference);
  return bare;
}
const { customerId: _customerId, customerEmail: _customerEmail, ...bareFailure } = failed;

describe('a payment whose event names its order alone', () => {
  it.each([
    ['names its order alone too', bareFailure],
    ['names the customer', failed],
  ])('resolves the failure of the same customer, whose event %s, by one look-up', async (_how, told) => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    await house.receive(told);
    await house.drain();
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    const { asked } = house.service;
    await house.receive(nameless('ORDER-2'));
    await house.drain(10_000);
    const [parent] = house.parents();
    expect(parent?.shown.text).toMatch(/^✅ Resolved/);
    expect(parent && linesOf(parent)).toContain('another payment of the same customer, ORDER-2');
    expect(house.service.asked - asked).toBe(1);
  });

  it('is looked up once where it makes nothing good, and found by a failure that could not be told before', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(bareFailure);
    // In the hands of a worker that is killed.
    await house.store.take(300_000);
    await house.receive(nameless('ORDER-2'));
    await house.drain(200_000);
    expect(house.service.asked).toBe(1);
    expect(house.parents()).toEqual([]);
    await house.drain(200_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Resolved/);
  });

  it('waits for a service that is away, and keeps no other work waiting', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    await house.receive(bareFailure);
    await house.drain();
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    house.service.isAway = true;
    for (let other = 0; other < 10; other += 1) await house.receive(nameless(`LOST-${other}`));
    await house.receive(nameless('ORDER-2'));
    await house.drain(20_000);
    await house.receive({ ...failed, key: 'payment_failed/order/ORDER-9', orderReference: 'ORDER-9' });
    await house.drain(15_000);
    expect(house.parents().map(({ shown }) => shown.text.split(' · ')[0])).toEqual([
      '❌ Declined by the bank',
      '❔ Event says failed, not checked',
    ]);
    house.service.isAway = false;
    await house.drain(120_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Resolved/);
  });

  it('is asked about a few times alone when the service does not know it', async () => {
    const house = cardsHouse();
    await house.receive(nameless('ORDER-2'));
    await house.drain(3_600_000);
    expect(house.service.asked).toBeLessThan(8);
    house.records.set('ORDER-3', recordOf('ORDER-3', 'PENDING'));
    const { asked } = house.service;
    await house.receive(nameless('ORDER-3'));
    await house.drain(3_600_000);
    expect(house.service.asked).toBe(asked + 1);
  });
});
