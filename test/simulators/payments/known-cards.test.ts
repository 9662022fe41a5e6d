import { describe, expect, it } from 'vitest';
import { foreignTokenKey, seedCards } from '../../../src/simulators/payments/seed.ts';
import { eventsOf, startMerchant, startReceiver } from './merchant.ts';

describe('cards that were saved before', () => {
  it('are told by the payment that saved each, once there is a URL, until a 2xx comes', async () => {
    const merchant = await startMerchant({ knownCards: true });
    expect(merchant.service.state().deliveries).toHaveLength(4);
    const receiver = await startReceiver(merchant, [503, 503]);
    const events = await eventsOf(merchant, receiver);
    expect(receiver.received).toHaveLength(6);
    const told = new Map(events.map((event) => [event.eventId, event]));
    expect([...told.values()].map((event) => event['tokenizedCardData'])).toEqual(
      expect.arrayContaining(
        Object.values(seedCards).map(({ tokenKey, customerEmail, cardType, cardPan }) =>
          expect.objectContaining({ tokenKey, customerEmail, cardType, cardPan }),
        ),
      ),
    );
    expect(JSON.stringify(events)).not.toContain(foreignTokenKey);
    expect(events.map(({ event }) => event)).not.toContain('payment_failed');
    expect(merchant.service.state().deliveries.map(({ state }) => state)).toEqual([
      'delivered',
      'delivered',
      'delivered',
      'delivered',
    ]);
  });

  it('are found with their first payment, as what it is: not a saved-card charge', async () => {
    const merchant = await startMerchant({ knownCards: true });
    const receiver = await startReceiver(merchant);
    const [event] = await eventsOf(merchant, receiver);
    expect(event).toMatchObject({
      event: 'payment_success',
      data: { order: { orderReference: 'CARD-4081', isTokenizedCardPayment: 'false' } },
    });
    expect((await merchant.lookUp('CARD-4081')).data).toMatchObject({ status: 'SUCCESS', amount: '50.00' });
  });

  it('are told to nobody who did not ask for it', async () => {
    const merchant = await startMerchant();
    const receiver = await startReceiver(merchant);
    expect(await eventsOf(merchant, receiver)).toEqual([]);
  });
});
