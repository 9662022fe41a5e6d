import { expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { cardsHouse, failed, paidBy, recordOf } from '../cards-house.ts';

/** What an event costs the store: before it is called received, and from then until nothing is left to do about it. */
async function callsOf(house: ReturnType<typeof cardsHouse>, event: PaymentEvent) {
  const sentToSlack = () => house.messages.reduce((sent, { edits = 0 }) => sent + 1 + edits, 0);
  let passes = 0;
  // Of the store and of Slack, before and after each.
  house.watched.pass = () => void (passes += 1);
  const sentBefore = sentToSlack();
  await house.receive(event);
  const received = passes / 2;
  const seconds = 30;
  await house.drain(seconds * 1_000);
  // It is asked for work once more each second, and there is none.
  const idle = seconds + 1;
  return { received, told: passes / 2 - received - idle - (sentToSlack() - sentBefore) };
}

it('costs the store so many calls to tell a failure, and to find that a payment is for none', async () => {
  const house = cardsHouse({ threshold: 20 });
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  expect(await callsOf(house, failed)).toEqual({ received: 1, told: 11 });
  const other = { customerId: 'cust-8', customerEmail: 'john@example.com' };
  house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
  expect(await callsOf(house, paidBy('ORDER-2', other))).toEqual({ received: 1, told: 7 });
});
