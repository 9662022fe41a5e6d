import { expect, it } from 'vitest';
import { eventsOf, startMerchant, startReceiver } from './merchant.ts';

it('redelivers an event unchanged, with a new id, late, or with an invalid signature', async () => {
  const merchant = await startMerchant();
  const receiver = await startReceiver(merchant);
  const charged = { amount: '5,000', customerEmail: 'chidi.eze@example.com', reason: 'Do not honour' };
  await merchant.service.act({ kind: 'decline_saved_card_charge', ...charged });
  await merchant.service.settled();
  for (const how of ['again', 'new_id', 'late', 'bad_signature'] as const) {
    await merchant.service.act({ kind: 'redeliver', deliveryId: 1, how });
    await merchant.service.settled();
  }
  const [first, again, newId, late] = await eventsOf(merchant, receiver);
  expect(again).toEqual(first);
  expect(newId).toEqual({ ...first, eventId: expect.not.stringMatching(first?.eventId ?? '') as string });
  const createdAt = new Date(merchant.clock.now - 3 * 86_400_000).toISOString();
  expect(late).toEqual({ ...first, createdAt });
  expect(receiver.received.map(({ signed }) => signed)).toEqual([true, true, true, true, false]);
});
