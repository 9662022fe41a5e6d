import { describe, expect, it } from 'vitest';
import { destinationsOf, needsLookUp } from '../../../src/features/alerts/routing.ts';
import type { AlertRule, RoutePlan } from '../../../src/domain/alert-route.ts';
import type { Lookup } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/confirmation.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { StoreUnavailable } from '../../../src/domain/failure.ts';
import {
  deliverNext,
  event,
  house,
  killed,
  receiveEvent,
  type Delivering,
  type Receiving,
} from '../house.ts';

const [big, quiet, alerts] = ['C0BIG00001', 'C0QUIET001', 'C0ALERTS01'];

function rule(parts: Partial<AlertRule>): AlertRule {
  return { name: 'all', match: {}, channels: [big, quiet], goesOn: false, ...parts };
}

function routed(rules: AlertRule[], answers: Parameters<typeof house>[0] = {}) {
  const opened = house(answers);
  const plan: RoutePlan = {
    rules,
    environment: 'live',
    account: 'main account',
    failures: alerts,
    successes: undefined,
  };
  const route: Receiving['route'] = (told, atMs) => destinationsOf(plan, told, atMs);
  Object.assign(opened.receive, { route, needsLookUp: (told: PaymentEvent) => needsLookUp(plan, told) });
  Object.assign(opened.deliver, { route });
  const told = () => opened.posts.map(({ channel }) => channel).toSorted();
  return { ...opened, told };
}

describe('an event for several channels', () => {
  it('is stored in one call, and told in all of them, once, wherever a crash came while it was copied', async () => {
    // Two copies, and its own record into the lane of its first channel.
    for (let fatal = 1; fatal <= 3; fatal += 1) {
      const { receive, deliver, drain, told, store } = routed([rule({ goesOn: true })]);
      let calls = 0;
      const survive = () => {
        calls += 1;
        if (calls === fatal) throw new StoreUnavailable('killed');
      };
      const dying: Delivering['store'] = {
        ...store,
        async create(...given) {
          survive();
          return await store.create(...given);
        },
        async write(...given) {
          survive();
          return await store.write(...given);
        },
      };
      // oxlint-disable-next-line no-await-in-loop
      expect(await receiveEvent({ ...receive, store: dying }, event, 'f').catch(() => 'killed')).toBe(
        fatal === 1 ? 'killed' : 'new',
      );
      // oxlint-disable-next-line no-await-in-loop
      await deliverNext({ ...deliver, store: dying }).catch(() => undefined);
      // oxlint-disable-next-line no-await-in-loop
      expect(await receiveEvent(receive, event, 'f')).toBe(fatal === 1 ? 'new' : 'duplicate');
      // oxlint-disable-next-line no-await-in-loop
      await drain(120_000);
      expect(told().toSorted()).toEqual([alerts, big, quiet].toSorted());
    }
  });

  it('keeps its channels and its rule when the rules change before it is told', async () => {
    const { receive, deliver, drain, told, posts } = routed([rule({ severity: 'high' })]);
    await receiveEvent(receive, event, 'f');
    for (const deps of [receive, deliver]) deps.route = () => [{ channel: alerts }];
    await drain(60_000);
    expect(told()).toEqual([big, quiet]);
    for (const { post } of posts)
      expect(post).toMatchObject({ alert: { route: { rule: 'all', severity: 'high' } } });
  });

  it('is told once in each when the answer to the last write was lost', async () => {
    const { receive, drain, told, store } = routed([rule({})]);
    const losing: Receiving = {
      ...receive,
      store: {
        ...store,
        async create(key, value, options) {
          await store.create(key, value, options);
          throw new StoreUnavailable('the answer was lost');
        },
      },
    };
    await expect(receiveEvent(losing, event, 'f')).rejects.toThrow('lost');
    await receiveEvent(receive, event, 'f');
    await drain(60_000);
    expect(told()).toEqual([big, quiet]);
  });

  it('is no other event’s alert, whatever a merchant’s reference looks like', async () => {
    const { receive, drain, told } = routed([rule({})]);
    const odd: PaymentEvent = { ...event, key: `${event.key}@${quiet}`, orderReference: `SUB-1@${quiet}` };
    const odder: PaymentEvent = { ...event, key: `copy/${quiet}` };
    for (const one of [odd, odder, event]) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await receiveEvent(receive, one, 'f')).toBe('new');
    }
    await drain(60_000);
    expect(told()).toEqual([big, big, big, quiet, quiet, quiet]);
  });
});

async function deliverAll(deps: Delivering): Promise<void> {
  while (await deliverNext(deps));
}

describe('an event that does not say what a rule asks for', () => {
  const { reason: _, ...silent } = event;
  const declined: Lookup = confirm(
    { reference: 'SUB-1' as OrderReference },
    { status: 'FAILED', orderReference: 'SUB-1', gatewayMessage: 'Insufficient FUNDS' },
  );
  const noFunds = rule({ name: 'no-funds', match: { reasonPart: 'funds' }, severity: 'high' });
  const away: Lookup = { kind: 'unchecked', failure: 'network' };

  it('is told within seconds though the service is away, where what it says itself sends it', async () => {
    const lookups = Array.from({ length: 100 }, () => away);
    const { receive, drain, told } = routed([noFunds], { lookups });
    await receiveEvent(receive, silent, 'f');
    await drain(12_000);
    expect(told()).toEqual([alerts]);
  });

  it('is told once in each channel wherever a crash came while it was routed', async () => {
    for (let fatal = 1; fatal <= 4; fatal += 1) {
      const lookups = [declined];
      const { receive, deliver, drain, told } = routed([noFunds], { lookups });
      // oxlint-disable-next-line no-await-in-loop
      await receiveEvent(receive, silent, 'f');
      let calls = 0;
      const survive = () => {
        calls += 1;
        return calls === fatal;
      };
      const { store } = deliver;
      const dying: typeof store = {
        ...store,
        create: (...given) => (survive() ? killed() : store.create(...given)),
        write: (...given) => (survive() ? killed() : store.write(...given)),
      };
      // oxlint-disable-next-line no-await-in-loop
      await expect(deliverAll({ ...deliver, store: dying })).rejects.toThrow('killed');
      // The service goes away between the crash and the next try.
      Object.assign(deliver, { lookUp: () => Promise.resolve(fatal === 1 ? declined : away) });
      // oxlint-disable-next-line no-await-in-loop
      await drain(120_000);
      expect(told()).toEqual([big, quiet]);
    }
  });

  it('asks the service nothing more where no rule needs it', async () => {
    let asked = 0;
    const { receive, deliver, drain, told } = routed([
      rule({ match: { customer: { kind: 'prefix', text: 'V' } } }),
    ]);
    deliver.lookUp = () => {
      asked += 1;
      return Promise.resolve(declined);
    };
    await receiveEvent(receive, silent, 'f');
    await drain(60_000);
    expect([told(), asked]).toEqual([[alerts], 1]);
  });
});
