import { expect, it } from 'vitest';
import { destinationsOf, needsLookUp } from '../../../src/features/alerts/routing.ts';
import type { RoutePlan } from '../../../src/domain/alert-route.ts';
import { ServiceFailure, type FailureKind } from '../../../src/domain/failure.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { createEventLookUp } from '../../../src/features/alerts/look-up-event.ts';
import { house, receiveEvent } from '../house.ts';

const [big, rest] = ['C0BIG00001', 'C0REST0001'];
const count = 40;

/** Failures that say nothing but their reference, and wait for a minute already when the worker comes to them. */
async function backlog(fail: (asked: number, reference: string) => FailureKind | undefined) {
  const { clock, receive, deliver, drain, posts } = house();
  const plan: RoutePlan = {
    rules: [
      {
        name: 'big',
        match: { event: 'payment_failed', currency: 'NGN', amount: { fromMinor: 100_000 } },
        channels: [big],
        goesOn: false,
      },
    ],
    environment: 'live',
    account: 'main account',
    failures: rest,
    successes: undefined,
  };
  let asked = 0;
  const lookUp = createEventLookUp(
    (reference) => {
      asked += 1;
      const failure = fail(asked, reference);
      if (failure) return Promise.reject(new ServiceFailure(failure, 'not now'));
      return Promise.resolve({
        status: 'FAILED',
        orderReference: reference,
        amountMinor: 500_000,
        currency: 'NGN',
      });
    },
    () => clock.nowMs,
  );
  const routing = {
    route: (told: PaymentEvent, atMs: number) => destinationsOf(plan, told, atMs),
    needsLookUp: (told: PaymentEvent) => needsLookUp(plan, told),
  };
  Object.assign(receive, routing);
  Object.assign(deliver, routing, { lookUp });
  for (let number = 1; number <= count; number += 1) {
    const orderReference = `ORDER-${number}`;
    const key = `payment_failed/order/${orderReference}`;
    // oxlint-disable-next-line no-await-in-loop
    await receiveEvent(receive, { kind: 'payment_failed', key, orderReference }, 'f');
  }
  clock.nowMs += 60_000;
  for (let second = 0; second < count + 30; second += 1) {
    // Somebody else's, in a lane of its own.
    // oxlint-disable-next-line no-await-in-loop
    await lookUp({ kind: 'payment_failed', key: 'other', orderReference: 'OTHER' });
    // oxlint-disable-next-line no-await-in-loop
    await drain(1_000);
  }
  return posts.map(({ channel }) => channel);
}

it.each(['rate_limited', 'server', 'timeout'] as const)(
  'a backlog is routed by its look-ups, though one of them failed once: %s',
  async (failure) => {
    const told = await backlog((asked) => (asked === 5 ? failure : undefined));
    expect(told).toEqual(Array.from({ length: count }, () => big));
  },
);

it('one order that never gets an answer holds a backlog up by ten seconds, and is told unchecked alone', async () => {
  const told = await backlog((_, reference) => (reference === 'ORDER-5' ? 'server' : undefined));
  expect(told.filter((channel) => channel === rest)).toHaveLength(1);
  expect(told).toHaveLength(count);
});

it('a service that stays away holds a backlog up by ten seconds, and it is told unchecked', async () => {
  const told = await backlog((asked) => (asked >= 5 ? 'server' : undefined));
  expect(told).toHaveLength(count);
  expect(told.filter((channel) => channel === rest).length).toBeGreaterThan(count - 10);
});
