import { describe, expect, it } from 'vitest';
import { eventsOf, startMerchant, startReceiver, type Merchant } from './merchant.ts';

function decline(merchant: Merchant): Promise<unknown> {
  return merchant.service.act({
    kind: 'decline_saved_card_charge',
    amount: '5,000',
    customerEmail: 'chidi.eze@example.com',
    reason: 'Do not honour',
  });
}

describe('webhook delivery', () => {
  it('sends the same bytes again until a 2xx comes', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant, [500, 404]);
    await decline(merchant);
    const events = await eventsOf(merchant, receiver);
    expect(events).toHaveLength(3);
    expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(1);
    const [delivery] = merchant.service.state().deliveries;
    expect(delivery).toMatchObject({ attempts: 3, lastStatus: 200, state: 'delivered' });
  });

  it('gives up after its last attempt', async () => {
    const merchant = await startMerchant({ retryDelaysMs: [1, 1] });
    const receiver = await startReceiver(merchant, [500, 500, 500, 500]);
    await decline(merchant);
    expect(await eventsOf(merchant, receiver)).toHaveLength(3);
    expect(merchant.service.state().deliveries[0]).toMatchObject({ attempts: 3, state: 'gave_up' });
  });

  it('takes a closed port and a redirect for no delivery', async () => {
    const merchant = await startMerchant({ retryDelaysMs: [] });
    const receiver = await startReceiver(merchant, [302]);
    await decline(merchant);
    await merchant.service.settled();
    merchant.service.sendWebhooksTo('http://127.0.0.1:1/webhooks');
    await decline(merchant);
    await merchant.service.settled();
    const states = merchant.service
      .state()
      .deliveries.map(({ lastStatus, state }) => ({ lastStatus, state }));
    expect(states).toEqual([
      { lastStatus: 0, state: 'gave_up' },
      { lastStatus: 302, state: 'gave_up' },
    ]);
    expect(receiver.received).toHaveLength(1);
  });

  it('ends at once when the service closes during a long wait', async () => {
    const merchant = await startMerchant({ retryDelaysMs: [3_600_000] });
    await startReceiver(merchant, [500]);
    const refused = new Promise<void>((resolve) => {
      merchant.service.onChange(() => {
        if (merchant.service.state().deliveries[0]?.lastStatus === 500) resolve();
      });
    });
    await decline(merchant);
    await refused;
    await merchant.service.close();
    await merchant.service.settled();
    expect(merchant.service.state().deliveries[0]).toMatchObject({ attempts: 1 });
  });
});

describe('redelivery', () => {
  it('repeats an event as it was, with a new id, or late', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    await decline(merchant);
    for (const how of ['again', 'new_id', 'late'] as const) {
      expect(await merchant.service.act({ kind: 'redeliver', deliveryId: 1, how })).toEqual({ ok: true });
    }
    const events = await eventsOf(merchant, receiver);
    expect(receiver.received.every(({ signed }) => signed)).toBe(true);
    const first = events[0];
    const sent = (how: (event: (typeof events)[number]) => boolean): number => events.filter(how).length;
    expect(sent((event) => JSON.stringify(event) === JSON.stringify(first))).toBe(2);
    expect(sent(({ eventId }) => eventId !== first?.eventId)).toBe(1);
    expect(sent(({ createdAt }) => Date.parse(createdAt) === merchant.clock.now - 3 * 86_400_000)).toBe(1);
  });

  it('with a bad signature is tried once and refused', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    await decline(merchant);
    await merchant.service.act({ kind: 'redeliver', deliveryId: 1, how: 'bad_signature' });
    await merchant.service.settled();
    expect(receiver.received.filter(({ signed }) => signed)).toHaveLength(1);
    expect(receiver.received).toHaveLength(2);
    expect(merchant.service.state().deliveries[0]).toMatchObject({
      attempts: 1,
      lastStatus: 401,
      state: 'gave_up',
      how: 'bad_signature',
    });
    const told = merchant.exchanges.at(-1);
    expect(told?.summary).toBe('payment_failed for SUB-3001, with a bad signature: refused');
  });
});
