import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { cardsHouse, linesOf, recordOf, type CardsHouse } from '../cards-house.ts';

/** As where the signature covers few fields: the order is named, and not under it. */
function eventOf(kind: PaymentEvent['kind'], transactionId: string): PaymentEvent {
  return { kind, key: `${kind}/transaction/${transactionId}`, transactionId, referenceHint: 'ORDER-1' };
}

function recorded(house: CardsHouse, id: string, status: string): void {
  const { customerEmail: _email, ...record } = recordOf('ORDER-1', status);
  house.records.set('ORDER-1', { ...record, id, orderAmountMinor: 1_250_000, orderCurrency: 'NGN' });
}

async function failure(house: CardsHouse): Promise<void> {
  recorded(house, 'T-1', 'FAILED');
  await house.receive(eventOf('payment_failed', 'T-1'));
  await house.drain();
}

describe('a payment of an order that the service’s own record names, and no signed event', () => {
  it('makes the failure of that order good, as a payment of the same reference', async () => {
    const house = cardsHouse();
    await failure(house);
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined by the bank · .* · ORDER-1$/);
    recorded(house, 'T-2', 'SUCCESS');
    house.clock.nowMs += 60_000;
    await house.receive(eventOf('payment_success', 'T-2'));
    await house.drain(20_000);
    const [parent] = house.parents();
    expect(parent?.shown.text).toMatch(/^✅ Resolved · Paid \(confirmed\) · /);
    expect(parent && linesOf(parent)).toContain('reference ORDER-1 (the same reference)');
  });

  it('does so too when it came before the failure could be told', async () => {
    const house = cardsHouse();
    recorded(house, 'T-1', 'FAILED');
    const told = {
      ...eventOf('payment_failed', 'T-1'),
      orderReference: 'ORDER-1',
      key: 'payment_failed/order/ORDER-1',
    };
    recorded(house, 'T-2', 'SUCCESS');
    await house.receive(eventOf('payment_success', 'T-2'));
    await house.drain(20_000);
    house.clock.nowMs += 60_000;
    await house.receive(told);
    await house.drain(20_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Resolved · Paid \(confirmed\) · /);
  });

  it('is not kept where nothing names an order or a customer', async () => {
    const house = cardsHouse();
    const { referenceHint: _hint, ...bare } = eventOf('payment_success', 'T-2');
    await house.receive(bare);
    expect(await house.store.read(`alert-payment:${bare.key}`)).toBeUndefined();
  });
});
