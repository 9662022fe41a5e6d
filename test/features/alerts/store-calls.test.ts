import { expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { failed, openAlertsWorld, paidBy, recordOf, startAlerts } from '../alerts-house.ts';

it('bounds the store calls of a failure, and of a payment that resolves nothing', async () => {
  const world = openAlertsWorld({ threshold: 20 });
  const calls: string[] = [];
  const house = startAlerts(world, async (name, effect) => {
    calls.push(name);
    return await effect();
  });
  /** An event's store calls: until its webhook is acknowledged, and from then until no work is left. */
  async function callsOf(event: PaymentEvent) {
    calls.length = 0;
    await house.receive(event);
    const received = calls.length;
    const seconds = 30;
    await house.drain(seconds * 1_000);
    const ofStore = calls.filter((name) => !/^(post|edit|history|look_up)$/.test(name));
    // Each second the worker asks once more for work, and finds none.
    return { received, told: ofStore.length - received - seconds - 1 };
  }
  world.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  expect(await callsOf(failed)).toEqual({ received: 1, told: 11 });
  const other = { customerId: 'cust-8', customerEmail: 'john@example.com' };
  world.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
  expect(await callsOf(paidBy('ORDER-2', other))).toEqual({ received: 1, told: 7 });
});
