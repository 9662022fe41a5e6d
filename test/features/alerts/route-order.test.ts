import { SealBroken } from '../../../src/store/store.ts';
import { expect, it } from 'vitest';
import type { Lookup } from '../../../src/domain/alert.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { alertKey } from '../../../src/messages/message-record.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { hastenedStore } from '../../support/kill-points.ts';
import {
  channel,
  deliverNext,
  event,
  house,
  killed,
  noStorms,
  receiveEvent,
  sealer,
  type Delivering,
} from '../house.ts';
import { onBothStores } from '../two-stores.ts';

function numbered(number: number): PaymentEvent {
  return { ...event, key: `payment_failed/order/${number}`, orderReference: `ORDER-${number}` };
}

/** So that two seconds until the next look-up, and one between two posts, pass sooner. */
const factor = 10;

const found: Lookup = { kind: 'not_found' };

/** A storm, whose digest asks nobody once an alert was looked up for its route. */
const inOneDigest: Delivering['storms'] = {
  ...noStorms,
  ask: () => Promise.resolve('C0ALERTS01/1'),
};

function orderOf(posts: ReturnType<typeof house>['posts']): (string | undefined)[] {
  return posts.map(({ post }) => (post.kind === 'alert' ? post.alert.event.orderReference : ''));
}

onBothStores('alerts that are routed by their look-up', (open) => {
  it('keep the order they came in, though the first could not be looked up at once', async () => {
    const { one, close } = await open();
    const store = hastenedStore(one, factor);
    const now = fastClock({ fromMs: Date.now(), factor });
    const { receive, deliver, posts } = house();
    let misses = 1;
    const deps: Delivering = {
      ...deliver,
      store,
      now,
      lookUp({ orderReference }) {
        if (orderReference !== 'ORDER-1' || misses === 0) return Promise.resolve(found);
        misses -= 1;
        return Promise.resolve({ kind: 'unchecked', failure: 'server' });
      },
    };
    const receiving = { ...receive, store, needsLookUp: () => true, now };
    // oxlint-disable-next-line no-await-in-loop
    for (const number of [1, 2, 3]) await receiveEvent(receiving, numbered(number), 'f');
    await expect
      .poll(async () => {
        // Two loops of the worker.
        await Promise.all([deliverNext(deps), deliverNext(deps)]);
        return posts.length;
      })
      .toBe(3);
    expect(orderOf(posts)).toEqual(['ORDER-1', 'ORDER-2', 'ORDER-3']);
    await close();
  });
});

onBothStores('alerts whose look-ups are slow', (open) => {
  it('are looked up several at once, each once, no more than the setting says, and told in their order', async () => {
    const { one: store, close } = await open();
    const { receive, deliver, posts } = house();
    const underWay = new Set<string>();
    let most = 0;
    const asked: string[] = [];
    // The later it came, the sooner it is answered.
    const answers = [1, 2, 3, 4, 5, 6, 7].map(() => Promise.withResolvers<Lookup>());
    const deps: Delivering = {
      ...deliver,
      store,
      storms: { ...inOneDigest },
      now: () => Date.now(),
      async lookUp({ orderReference = '' }) {
        asked.push(orderReference);
        underWay.add(orderReference);
        most = Math.max(most, underWay.size);
        if (underWay.size === 3) for (const { resolve } of answers.toReversed()) resolve(found);
        const lookup = await answers[Number(orderReference.slice(-1)) - 1]?.promise;
        underWay.delete(orderReference);
        return lookup ?? found;
      },
    };
    const receiving = { ...receive, store, needsLookUp: () => true, now: () => Date.now() };
    const told: (string | undefined)[] = [];
    deps.storms.ask = (to, key, gathers) => {
      told.push(`ORDER-${key.split('/').at(-1)}`);
      return inOneDigest.ask(to, key, gathers);
    };
    // oxlint-disable-next-line no-await-in-loop
    for (const number of [1, 2, 3, 4, 5, 6, 7]) await receiveEvent(receiving, numbered(number), 'f');
    await expect
      .poll(async () => {
        await Promise.all([deliverNext(deps, 3), deliverNext(deps, 3)]);
        return told.length;
      })
      .toBe(7);
    const inOrder = [1, 2, 3, 4, 5, 6, 7].map((number) => `ORDER-${number}`);
    expect([told, asked, most]).toEqual([inOrder, inOrder, 3]);
    expect(posts).toEqual([]);
    await close();
  });
});

it('a crash between look-ups and routing asks for none of them again', async () => {
  const { clock, receive, deliver, drain, posts, store } = house();
  const asked: (string | undefined)[] = [];
  const routing = { needsLookUp: () => true };
  Object.assign(deliver, {
    lookUp(asking: PaymentEvent) {
      asked.push(asking.orderReference);
      return Promise.resolve(found);
    },
  });
  for (const number of [1, 2, 3, 4]) await receiveEvent({ ...receive, ...routing }, numbered(number), 'f');
  const write: typeof store.write = (entry, value, options) =>
    options?.lane === undefined ? store.write(entry, value, options) : killed();
  const dying = { ...deliver, store: { ...store, write } };
  await expect(deliverNext(dying)).rejects.toThrow('killed');
  expect(asked).toHaveLength(4);
  clock.nowMs += deliver.leaseMs;
  Object.assign(deliver, { lookUp: () => Promise.reject(new Error('asked again')), storms: inOneDigest });
  await drain(10_000);
  const last = await store.read(alertKey('payment_failed/order/4'));
  expect(JSON.parse(last?.value ?? '')).toMatchObject({ channel, digest: { storm: 'C0ALERTS01/1' } });
  expect(posts).toEqual([]);
});

it('what cannot be opened holds up nothing that is taken with it', async () => {
  const { receive, deliver, drain, posts } = house();
  const routing = { needsLookUp: () => true };
  for (const number of [1, 2, 3]) await receiveEvent({ ...receive, ...routing }, numbered(number), 'f');
  Object.assign(deliver, {
    sealer: {
      ...sealer,
      open(context: string, text: string) {
        if (context.endsWith('order/2')) throw new SealBroken('sealed with a lost key');
        return sealer.open(context, text);
      },
    },
  });
  await drain(5_000);
  expect(orderOf(posts)).toEqual(['ORDER-1', 'ORDER-3']);
});

it('a failure waits for no success that is to be looked up first', async () => {
  const { clock, receive, deliver, posts } = house();
  const routing = { ...receive, needsLookUp: () => true };
  const slowAnswer = Promise.withResolvers<Lookup>();
  const deps: Delivering = {
    ...deliver,
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
