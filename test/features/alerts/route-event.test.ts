import { visibleText } from '../../support/visible-text.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../src/domain/alert.ts';
import { StoreUnavailable, ServiceFailure, type FailureKind } from '../../../src/domain/failure.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { SealBroken } from '../../../src/store/store.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { hastenedStore } from '../../support/kill-points.ts';
import { type AlertsWorld, linesOf, openAlertsWorld, type Pass, startAlerts } from '../alerts-house.ts';
import { event } from '../house.ts';
import { onBothStores } from '../two-stores.ts';

const [big, quiet, alerts] = ['C0BIG00001', 'C0QUIET001', 'C0ALERTS01'];

function rule(parts: Partial<AlertRule>): AlertRule {
  return { name: 'all', match: {}, channels: [big, quiet], continues: false, ...parts };
}

function routed(...rules: AlertRule[]): AlertsWorld {
  const world = openAlertsWorld();
  world.routes.rules = rules;
  return world;
}

/** The process dies before its write number `fatal`. */
function dyingAt(fatal: number): Pass {
  let calls = 0;
  return async (name, effect) => {
    if (/^(create|write)/.test(name)) calls += 1;
    if (calls >= fatal) throw new StoreUnavailable('killed');
    return await effect();
  };
}

function told({ slack }: AlertsWorld): string[] {
  return slack.messages
    .filter(({ threadTs }) => threadTs === undefined)
    .map(({ channel }) => channel)
    .toSorted();
}

function ordersOf({ slack }: AlertsWorld): (string | undefined)[] {
  return slack.messages.map(({ shown }) => /ORDER-\d+/.exec(shown.text)?.[0]);
}

function numbered(number: number): PaymentEvent {
  return { ...event, key: `payment_failed/order/${number}`, orderReference: `ORDER-${number}` };
}

/** The events of these tests have no amount, so routing needs a look-up. */
const large = rule({ match: { currency: 'NGN', amount: { fromMinor: 100_000 } }, channels: [big] });

async function receiveAll(world: AlertsWorld, count: number): Promise<void> {
  const { receive } = startAlerts(world);
  for (let number = 1; number <= count; number += 1) await receive(numbered(number));
}

describe('an event for several channels', () => {
  it.each([1, 2, 3])('is posted once in each, although the process dies at write %i', async (fatal) => {
    const world = routed(rule({ continues: true }));
    const dying = startAlerts(world, dyingAt(fatal));
    const first = await dying.receive(event).catch(() => 'killed');
    expect(first).toBe(fatal === 1 ? 'killed' : 'new');
    await dying.once().catch(() => undefined);
    const house = startAlerts(world);
    expect(await house.receive(event)).toBe(fatal === 1 ? 'new' : 'duplicate');
    await house.drain(120_000);
    expect(told(world)).toEqual([alerts, big, quiet].toSorted());
  });

  it('keeps its channels and rule if the rules change before it is posted', async () => {
    const world = routed(rule({ severity: 'high' }));
    await startAlerts(world).receive(event);
    world.routes.rules = [];
    await startAlerts(world).drain(60_000);
    expect(told(world)).toEqual([big, quiet]);
    for (const { shown } of world.slack.messages) expect(visibleText(shown.blocks)).toMatch(/high.* all$/im);
  });

  it('has its own alert, even if a reference looks like another key', async () => {
    const world = routed(rule({}));
    const house = startAlerts(world);
    for (const key of [`${event.key}@${quiet}`, `copy/${quiet}`, event.key])
      expect(await house.receive({ ...event, key })).toBe('new');
    await house.drain(60_000);
    expect(told(world)).toEqual([big, big, big, quiet, quiet, quiet]);
  });
});

it.each([1, 2, 3, 4])(
  'an event that is routed by its look-up is posted once in each channel, although the process dies at write %i',
  async (fatal) => {
    const { reason: _, ...silent } = event;
    const world = routed(rule({ match: { reasonPart: 'funds' } }));
    world.records.set('SUB-1', {
      status: 'FAILED',
      orderReference: 'SUB-1',
      gatewayMessage: 'Insufficient FUNDS',
    });
    const house = startAlerts(world);
    await house.receive(silent);
    await expect(startAlerts(world, dyingAt(fatal)).drain(0)).rejects.toThrow('killed');
    // The service is away after the crash.
    world.service.isAway = fatal !== 1;
    await house.drain(120_000);
    expect(told(world)).toEqual([big, quiet]);
  },
);

/** Time passes faster by this factor: retries wait two seconds, posts one. */
const factor = 10;

onBothStores('alerts that are routed by their look-up', (open) => {
  it('are looked up in parallel and posted in order, although the first has no answer at first', async () => {
    const { one, close } = await open();
    const now = fastClock({ fromMs: Date.now(), factor });
    const clock = {
      get nowMs() {
        return now();
      },
    };
    const world = { ...routed(large), clock, store: { ...hastenedStore(one, factor), keys: () => [] } };
    const underWay = new Set<string>();
    let [misses, most] = [2, 0];
    world.service.find = async (reference) => {
      underWay.add(reference);
      most = Math.max(most, underWay.size);
      await sleep(5);
      underWay.delete(reference);
      if (reference !== 'ORDER-1' || misses === 0) return undefined;
      misses -= 1;
      throw new ServiceFailure('server', 'away');
    };
    await receiveAll(world, 9);
    const house = startAlerts(world);
    await expect
      .poll(async () => {
        // Two loops of the worker.
        await Promise.all([house.once(), house.once()]);
        return world.slack.messages.length;
      })
      .toBe(9);
    expect(ordersOf(world)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `ORDER-${number}`));
    expect([most, misses]).toEqual([8, 0]);
    await close();
  });
});

it('after a crash between look-ups and routing no look-up is repeated', async () => {
  const world = routed(large);
  world.settings.digestThreshold = 1;
  await receiveAll(world, 4);
  let stored = 0;
  const dying = startAlerts(world, async (name, effect) => {
    if (name === 'write message:alert') stored += 1;
    // Four look-ups are stored; the fifth write would route the first event.
    if (stored > 4) throw new StoreUnavailable('killed');
    return await effect();
  });
  await expect(dying.drain(0)).rejects.toThrow('killed');
  expect(world.service.asked).toBe(4);
  world.clock.nowMs += dying.account.leaseMs;
  world.service.find = () => {
    throw new Error('asked again');
  };
  // The storm's digest uses the routing look-up.
  const house = startAlerts(world);
  await house.drain(10_000);
  expect(house.parents().map((message) => linesOf(message))).toEqual([
    expect.stringContaining('4 failed charges'),
  ]);
  expect(world.service.asked).toBe(4);
});

it('an unreadable event delays no other of its batch', async () => {
  const world = routed(large);
  await receiveAll(world, 3);
  const { sealer } = world;
  world.sealer = {
    ...sealer,
    open(context: string, text: string) {
      if (context.endsWith('order/2')) throw new SealBroken('sealed with a lost key');
      return sealer.open(context, text);
    },
  };
  await startAlerts(world).drain(5_000);
  expect(ordersOf(world).filter((one) => one !== undefined)).toEqual(['ORDER-1', 'ORDER-3']);
});

it('a failure does not wait for a success’s look-up', async () => {
  const world = routed(large);
  const slowAnswer = Promise.withResolvers<undefined>();
  world.service.find = (reference) => (reference === 'PAID-1' ? slowAnswer.promise : undefined);
  const house = startAlerts(world);
  const paid = { ...event, kind: 'payment_success', orderReference: 'PAID-1' } as const;
  await house.receive({ ...paid, key: 'payment_success/order/1' });
  world.clock.nowMs += 1;
  await house.receive(numbered(2));
  const slow = house.once();
  while (await house.once());
  expect(ordersOf(world)).toEqual(['ORDER-2']);
  slowAnswer.resolve(undefined);
  await slow;
});

describe('a backlog that is a minute old', () => {
  const count = 40;

  /** Posts failures that have only a reference; returns how many went to the channel without a rule. */
  async function backlog(fail: (asked: number, reference: string) => FailureKind | undefined) {
    const world = routed({ ...large, match: { ...large.match, event: 'payment_failed' } });
    world.routes.successes = 'C0PAID0001';
    let asked = 0;
    world.service.find = (reference) => {
      asked += 1;
      const failure = fail(asked, reference);
      if (failure) throw new ServiceFailure(failure, 'not now');
      return { status: 'FAILED', orderReference: reference, amountMinor: 500_000, currency: 'NGN' };
    };
    const house = startAlerts(world);
    for (let number = 1; number <= count; number += 1) {
      const { key, orderReference = '' } = numbered(number);
      await house.receive({ kind: 'payment_failed', key, orderReference });
    }
    world.clock.nowMs += 60_000;
    for (let second = 0; second < count + 30; second += 1) {
      // A look-up in another lane.
      await house.receive({ kind: 'payment_success', key: `other/${second}`, orderReference: 'OTHER' });
      await house.drain(1_000);
    }
    const channels = told(world).filter((channel) => channel !== 'C0PAID0001');
    expect(channels).toHaveLength(count);
    return channels.filter((channel) => channel === alerts).length;
  }

  it('is routed by its look-ups, although one failed once', async () => {
    expect(await backlog((asked) => (asked === 5 ? 'rate_limited' : undefined))).toBe(0);
  });

  it('waits ten seconds for one order without an answer; only that one is posted unchecked', async () => {
    expect(await backlog((_, reference) => (reference === 'ORDER-5' ? 'server' : undefined))).toBe(1);
  });

  it('waits ten seconds if the service stays away, and is then posted unchecked', async () => {
    expect(await backlog((asked) => (asked >= 5 ? 'server' : undefined))).toBeGreaterThan(count - 10);
  });
});
