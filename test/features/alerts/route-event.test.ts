import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AlertRule, RoutePlan, Lookup } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/transaction.ts';
import { ServiceFailure, type FailureKind } from '../../../src/domain/failure.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { lookUpEvent, sparing } from '../../../src/features/alerts/look-up-event.ts';
import { destinationsOf, needsLookUp } from '../../../src/features/alerts/routing.ts';
import { alertKey } from '../../../src/messages/message-record.ts';
import { SealBroken } from '../../../src/store/store.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { hastenedStore } from '../../support/kill-points.ts';
import {
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

const [big, quiet, alerts] = ['C0BIG00001', 'C0QUIET001', 'C0ALERTS01'];

function rule(parts: Partial<AlertRule>): AlertRule {
  return { name: 'all', match: {}, channels: [big, quiet], goesOn: false, ...parts };
}

function routed(...rules: AlertRule[]) {
  const opened = house();
  const place = { environment: 'live', account: 'main account' } as const;
  const plan: RoutePlan = { ...place, rules, failures: alerts, successes: undefined };
  const routing = {
    route: (told: PaymentEvent) => ({ routed: destinationsOf(plan, told) }),
    needsLookUp: (told: PaymentEvent) => needsLookUp(plan, told),
  };
  Object.assign(opened.receive, routing);
  Object.assign(opened.deliver, routing);
  const told = () => opened.posts.map(({ channel }) => channel).toSorted();
  return { ...opened, told };
}

/** Its `fatal`th write is never made. */
function dyingStore(store: Delivering['store'], fatal: number): Delivering['store'] {
  let calls = 0;
  const isFatal = () => {
    calls += 1;
    return calls === fatal;
  };
  return {
    ...store,
    create: (...given) => (isFatal() ? killed() : store.create(...given)),
    write: (...given) => (isFatal() ? killed() : store.write(...given)),
  };
}

function numbered(number: number): PaymentEvent {
  return { ...event, key: `payment_failed/order/${number}`, orderReference: `ORDER-${number}` };
}

const notFound: Lookup = { kind: 'not_found' };
const away: Lookup = { kind: 'unchecked', failure: 'server' };

/** All of these are looked up before it is known where they go. */
async function receiveAll(
  { receive }: Pick<ReturnType<typeof house>, 'receive'>,
  count: number,
): Promise<void> {
  for (let number = 1; number <= count; number += 1)
    await receiveEvent({ ...receive, needsLookUp: () => true }, numbered(number), 'f');
}

function orderOf(posts: ReturnType<typeof house>['posts']): (string | undefined)[] {
  return posts.map(({ post }) => (post.kind === 'alert' ? post.alert.event.orderReference : ''));
}

describe('an event for several channels', () => {
  it.each([1, 2, 3])('is told in all of them, once, though a crash came at write %i', async (fatal) => {
    const { receive, deliver, drain, told, store } = routed(rule({ goesOn: true }));
    const dying = dyingStore(store, fatal);
    const first = await receiveEvent({ ...receive, store: dying }, event, 'f').catch(() => 'killed');
    expect(first).toBe(fatal === 1 ? 'killed' : 'new');
    await deliverNext({ ...deliver, store: dying }).catch(() => undefined);
    expect(await receiveEvent(receive, event, 'f')).toBe(fatal === 1 ? 'new' : 'duplicate');
    await drain(120_000);
    expect(told()).toEqual([alerts, big, quiet].toSorted());
  });

  it('keeps its channels and its rule when the rules change before it is told', async () => {
    const { receive, deliver, drain, told, posts } = routed(rule({ severity: 'high' }));
    await receiveEvent(receive, event, 'f');
    for (const deps of [receive, deliver]) deps.route = () => ({ routed: [{ channel: alerts }] });
    await drain(60_000);
    expect(told()).toEqual([big, quiet]);
    for (const { post } of posts)
      expect(post).toMatchObject({ alert: { route: { rule: 'all', severity: 'high' } } });
  });

  it('is no other event’s alert, whatever a merchant’s reference looks like', async () => {
    const { receive, drain, told } = routed(rule({}));
    for (const key of [`${event.key}@${quiet}`, `copy/${quiet}`, event.key])
      expect(await receiveEvent(receive, { ...event, key }, 'f')).toBe('new');
    await drain(60_000);
    expect(told()).toEqual([big, big, big, quiet, quiet, quiet]);
  });
});

it.each([1, 2, 3, 4])(
  'an event that is routed by its look-up is told once in each channel though a crash came at write %i',
  async (fatal) => {
    const { reason: _, ...silent } = event;
    const declined: Lookup = confirm(
      { reference: 'SUB-1' as OrderReference },
      { status: 'FAILED', orderReference: 'SUB-1', gatewayMessage: 'Insufficient FUNDS' },
    );
    const { receive, deliver, drain, told } = routed(rule({ match: { reasonPart: 'funds' } }));
    await receiveEvent(receive, silent, 'f');
    const dying = { ...deliver, store: dyingStore(deliver.store, fatal), lookUp: async () => declined };
    const deliverAll = async () => {
      while (await deliverNext(dying));
    };
    await expect(deliverAll()).rejects.toThrow('killed');
    // The service goes away between the crash and the next try.
    deliver.lookUp = async () => (fatal === 1 ? declined : away);
    await drain(120_000);
    expect(told()).toEqual([big, quiet]);
  },
);

/** So that two seconds until the next look-up, and one between two posts, pass sooner. */
const factor = 10;

onBothStores('alerts that are routed by their look-up', (open) => {
  it('are looked up several at once, and told in the order they came in, though the first has no answer at once', async () => {
    const { one, close } = await open();
    const store = hastenedStore(one, factor);
    const now = fastClock({ fromMs: Date.now(), factor });
    const { receive, deliver, posts } = house();
    const underWay = new Set<string>();
    let [misses, most] = [2, 0];
    const deps: Delivering = {
      ...deliver,
      store,
      now,
      async lookUp({ orderReference = '' }) {
        underWay.add(orderReference);
        most = Math.max(most, underWay.size);
        await sleep(5);
        underWay.delete(orderReference);
        if (orderReference !== 'ORDER-1' || misses === 0) return notFound;
        misses -= 1;
        return away;
      },
    };
    await receiveAll({ receive: { ...receive, store, now } }, 5);
    await expect
      .poll(async () => {
        // Two loops of the worker.
        await Promise.all([deliverNext(deps, 3), deliverNext(deps, 3)]);
        return posts.length;
      })
      .toBe(5);
    expect(orderOf(posts)).toEqual([1, 2, 3, 4, 5].map((number) => `ORDER-${number}`));
    expect([most, misses]).toEqual([3, 0]);
    await close();
  });
});

it('a crash between look-ups and routing asks for none of them again', async () => {
  const opened = house();
  const { clock, deliver, drain, posts, store } = opened;
  let asked = 0;
  deliver.lookUp = async () => {
    asked += 1;
    return notFound;
  };
  await receiveAll(opened, 4);
  const write: typeof store.write = (entry, value, options) =>
    options?.lane === undefined ? store.write(entry, value, options) : killed();
  await expect(deliverNext({ ...deliver, store: { ...store, write } })).rejects.toThrow('killed');
  expect(asked).toBe(4);
  clock.nowMs += deliver.leaseMs;
  // A storm’s digest asks nobody either, once an alert was looked up for its route.
  const storms = { ...noStorms, join: () => Promise.resolve('C0ALERTS01/1') };
  Object.assign(deliver, { lookUp: () => Promise.reject(new Error('asked again')), storms });
  await drain(10_000);
  const last = await store.read(alertKey('payment_failed/order/4'));
  expect(JSON.parse(last?.value ?? '')).toMatchObject({ channel: alerts, digest: { storm: 'C0ALERTS01/1' } });
  expect(posts).toEqual([]);
});

it('what cannot be opened holds up nothing that is taken with it', async () => {
  const opened = house();
  const { deliver, drain, posts } = opened;
  await receiveAll(opened, 3);
  deliver.sealer = {
    ...sealer,
    open(context: string, text: string) {
      if (context.endsWith('order/2')) throw new SealBroken('sealed with a lost key');
      return sealer.open(context, text);
    },
  };
  await drain(5_000);
  expect(orderOf(posts)).toEqual(['ORDER-1', 'ORDER-3']);
});

it('a failure waits for no success that is to be looked up first', async () => {
  const { clock, receive, deliver, posts } = house();
  const routing = { ...receive, needsLookUp: () => true };
  const slowAnswer = Promise.withResolvers<Lookup>();
  const deps: Delivering = {
    ...deliver,
    lookUp: ({ kind }) => (kind === 'payment_success' ? slowAnswer.promise : Promise.resolve(notFound)),
  };
  await receiveEvent(routing, { ...event, kind: 'payment_success', key: 'payment_success/order/1' }, 'f');
  clock.nowMs += 1;
  await receiveEvent(routing, numbered(2), 'f');
  const slow = deliverNext(deps);
  while (await deliverNext(deps));
  expect(orderOf(posts)).toEqual(['ORDER-2']);
  slowAnswer.resolve(notFound);
  await slow;
});

describe('a backlog that waits for a minute already when the worker comes to it', () => {
  const count = 40;

  /** Failures that say nothing but their reference. Their channels, once all are told. */
  async function backlog(fail: (asked: number, reference: string) => FailureKind | undefined) {
    const match = { currency: 'NGN', amount: { fromMinor: 100_000 } };
    const { clock, receive, deliver, drain, posts } = routed(rule({ match, channels: [big] }));
    let asked = 0;
    async function findTransaction(reference: string) {
      asked += 1;
      const failure = fail(asked, reference);
      if (failure) throw new ServiceFailure(failure, 'not now');
      return { status: 'FAILED', orderReference: reference, amountMinor: 500_000, currency: 'NGN' };
    }
    const lookUp = sparing(
      () => clock.nowMs,
      (told: PaymentEvent) => lookUpEvent(findTransaction, told),
    );
    deliver.lookUp = lookUp;
    for (let number = 1; number <= count; number += 1) {
      const { key, orderReference = '' } = numbered(number);
      await receiveEvent(receive, { kind: 'payment_failed', key, orderReference }, 'f');
    }
    clock.nowMs += 60_000;
    for (let second = 0; second < count + 30; second += 1) {
      // Somebody else's, in a lane of its own.
      await lookUp({ kind: 'payment_failed', key: 'other', orderReference: 'OTHER' });
      await drain(1_000);
    }
    expect(posts).toHaveLength(count);
    return posts.filter(({ channel }) => channel === alerts).length;
  }

  it('is routed by its look-ups, though one of them failed once', async () => {
    expect(await backlog((asked) => (asked === 5 ? 'rate_limited' : undefined))).toBe(0);
  });

  it('is held up for ten seconds by one order that never gets an answer, which is told unchecked alone', async () => {
    expect(await backlog((_, reference) => (reference === 'ORDER-5' ? 'server' : undefined))).toBe(1);
  });

  it('is held up for ten seconds by a service that stays away, and told unchecked', async () => {
    expect(await backlog((asked) => (asked >= 5 ? 'server' : undefined))).toBeGreaterThan(count - 10);
  });
});
