import { expect, it } from 'vitest';
import type { Lookup } from '../../src/domain/alert.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { receiveEvent } from '../../src/operations/receive-event.ts';
import { deliverNext, event, house, type Delivering } from './house.ts';
import { onBothStores } from './two-stores.ts';

function numbered(number: number): PaymentEvent {
  return { ...event, key: `payment_failed/order/${number}`, orderReference: `ORDER-${number}` };
}

const found: Lookup = { kind: 'not_found' };

function orderOf(posts: ReturnType<typeof house>['posts']): (string | undefined)[] {
  return posts.map(({ post }) => (post.kind === 'alert' ? post.alert.event.orderReference : ''));
}

onBothStores('alerts that are routed by their look-up', (open) => {
  it('keep the order they came in, though the first could not be looked up at once', async () => {
    const { one: store, close } = await open();
    const { receive, deliver, posts } = house();
    let misses = 1;
    const deps: Delivering = {
      ...deliver,
      store,
      needsLookUp: () => true,
      now: () => Date.now(),
      lookUp({ orderReference }) {
        if (orderReference !== 'ORDER-1' || misses === 0) return Promise.resolve(found);
        misses -= 1;
        return Promise.resolve({ kind: 'unchecked', failure: 'server' });
      },
    };
    const receiving = { ...receive, store, needsLookUp: () => true, now: () => Date.now() };
    // oxlint-disable-next-line no-await-in-loop
    for (const number of [1, 2, 3]) await receiveEvent(receiving, numbered(number), 'f');
    await expect
      .poll(
        async () => {
          // Two loops of the worker.
          await Promise.all([deliverNext(deps), deliverNext(deps)]);
          return posts.length;
        },
        { timeout: 15_000 },
      )
      .toBe(3);
    expect(orderOf(posts)).toEqual(['ORDER-1', 'ORDER-2', 'ORDER-3']);
    await close();
  });
});

it('a failure waits for no success that is to be looked up first', async () => {
  const { clock, receive, deliver, posts } = house();
  const routing = { ...receive, needsLookUp: () => true };
  const slowAnswer = Promise.withResolvers<Lookup>();
  const deps: Delivering = {
    ...deliver,
    needsLookUp: () => true,
    lookUp: ({ kind }) => (kind === 'payment_success' ? slowAnswer.promise : Promise.resolve(found)),
  };
  await receiveEvent(routing, { ...event, kind: 'payment_success', key: 'payment_success/order/1' }, 'f');
  clock.nowMs += 1;
  await receiveEvent(routing, numbered(2), 'f');
  const slow = deliverNext(deps);
  while (await deliverNext(deps));
  expect(orderOf(posts)).toEqual(['ORDER-2']);
  slowAnswer.resolve(found);
  await slow;
});

it('a service that is away holds up what is to be routed by ten seconds, however many wait', async () => {
  const { receive, deliver, drain, posts } = house();
  const routing = { ...receive, needsLookUp: () => true };
  Object.assign(deliver, {
    needsLookUp: () => true,
    lookUp: () => Promise.resolve({ kind: 'unchecked', failure: 'server' }),
  });
  for (let number = 1; number <= 8; number += 1) await receiveEvent(routing, numbered(number), 'f');
  // And a second for each post in their one channel.
  await drain(10_000 + 2_000 + 8_000);
  expect(orderOf(posts)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((number) => `ORDER-${number}`));
});
