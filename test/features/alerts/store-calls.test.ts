import { expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { failed, openAlertsWorld, paidBy, recordOf, startAlerts } from '../alerts-house.ts';

it('costs the store so many calls to tell a failure, and to find that a payment is for none', async () => {
  const world = openAlertsWorld({ threshold: 20 });
  const calls: string[] = [];
  const house = startAlerts(world, async (name, effect) => {
    calls.push(name);
    return await effect();
  });
  /** What an event costs the store: before it is called received, and from then until nothing is left to do about it. */
  async function callsOf(event: PaymentEvent) {
    calls.length = 0;
    await house.receive(event);
    const received = calls.length;
    const seconds = 30;
    await house.drain(seconds * 1_000);
    const ofStore = calls.filter((name) => !/^(post|edit|history|look_up)$/.test(name));
    // It is asked for work once more each second, and there is none.
    return { received, told: ofStore.length - received - seconds - 1 };
  }
  world.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  expect(await callsOf(failed)).toEqual({ received: 1, told: 11 });
  const other = { customerId: 'cust-8', customerEmail: 'john@example.com' };
  world.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
  expect(await callsOf(paidBy('ORDER-2', other))).toEqual({ received: 1, told: 7 });
});
