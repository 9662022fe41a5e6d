import { describe, expect, it } from 'vitest';
import type { PaymentsAction } from '../../../src/simulators/protocol.ts';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { eventsOf, orderOf, startMerchant, startReceiver } from './merchant.ts';

const order = { kind: 'create_order', amount: '2,500.50', customerEmail: 'eniola@example.com' } as const;

describe('the panel', () => {
  it('shows a believable world at the start', async () => {
    const merchant = await startMerchant();
    const { weather, orders, cards, deliveries } = merchant.service.state();
    expect([weather, orders.length, cards.length, deliveries.length]).toEqual(['normal', 7, 4, 0]);
    expect(cards.map(({ label }) => label)).toEqual(Object.values(seedCards).map(({ label }) => label));
  });

  it('creates an order that a customer pays: the card is saved and told', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    expect(await merchant.service.act({ ...order, orderReference: 'NEW-1' })).toEqual({ ok: true });
    expect(
      await merchant.service.act({ kind: 'pay_order', orderReference: 'NEW-1', outcome: 'approved' }),
    ).toEqual({
      ok: true,
    });
    const [event] = await eventsOf(merchant, receiver);
    expect(orderOf(event)).toMatchObject({ orderReference: 'NEW-1', amount: '2500.50' });
    expect(event).toHaveProperty('tokenizedCardData');
    expect(merchant.service.state()).toMatchObject({
      orders: [{ state: 'paid' }],
      cards: [{ cardType: 'Mastercard' }],
    });
  });

  it('lets the bank decline the customer’s card, without an event', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    await merchant.service.act({ kind: 'pay_order', orderReference: 'ORDER-1002', outcome: 'declined' });
    const paid = merchant.service
      .state()
      .orders.find(({ orderReference }) => orderReference === 'ORDER-1002');
    expect(paid).toMatchObject({ state: 'declined', reason: 'Insufficient funds' });
    expect(await eventsOf(merchant, receiver)).toEqual([]);
  });

  it('lets the merchant’s own system charge a saved card, approved or declined', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    const terms = { amount: '5000', customerEmail: 'chidi.eze@example.com' };
    await merchant.service.act({ kind: 'decline_saved_card_charge', ...terms, reason: 'Expired card' });
    await merchant.service.act({ kind: 'approve_saved_card_charge', ...terms });
    const events = await eventsOf(merchant, receiver);
    const byKind = Object.fromEntries(events.map((event) => [event.event, event]));
    expect(byKind['payment_failed']).toMatchObject({ data: { transaction: { message: 'Expired card' } } });
    expect(orderOf(byKind['payment_success'])).toMatchObject({ isTokenizedCardPayment: 'true' });
    expect(merchant.service.stats().chargesByReference).toEqual({ 'SUB-3002': 1 });
  });

  it.each<PaymentsAction>([
    { ...order, amount: 'lots' },
    { ...order, customerEmail: 'nobody' },
    { ...order, orderReference: 'ORDER-1001' },
    { ...order, orderReference: 'x'.repeat(51) },
    { kind: 'pay_order', orderReference: 'ORDER-1001', outcome: 'approved' },
    { kind: 'pay_order', orderReference: 'ORDER-1001', outcome: 'declined' },
    { kind: 'pay_order', orderReference: 'SUB-2040', outcome: 'approved' },
    { kind: 'pay_order', orderReference: 'nothing', outcome: 'approved' },
  ])('says why %j cannot be done and changes nothing', async (action) => {
    const merchant = await startMerchant();
    const before = merchant.service.state();
    expect(await merchant.service.act(action)).toEqual({ ok: false, problem: expect.any(String) as string });
    expect(merchant.service.state()).toEqual(before);
  });
});
