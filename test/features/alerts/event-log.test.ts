import { describe, expect, it } from 'vitest';
import { destinationsOf, needsLookUp } from '../../../src/features/alerts/routing.ts';
import type { AlertRule, RoutePlan, Lookup } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/transaction.ts';
import { type EventLog, type LoggedEvent, createEventLog } from '../../../src/features/alerts/event-log.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { event, house, keepsPayments, receiveEvent, sealer } from '../house.ts';
import { onBothStores } from '../two-stores.ts';

const success: PaymentEvent = { ...event, kind: 'payment_success', key: 'payment_success:SUB-1' };

async function logged(log: EventLog): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const page of log.since(0)) events.push(...page);
  return events;
}

function planOf(rules: AlertRule[]): RoutePlan {
  return {
    rules,
    environment: 'live',
    account: 'main account',
    failures: 'C0ALERTS01',
    successes: undefined,
  };
}

function routed(rules: AlertRule[], answers: Parameters<typeof house>[0] = {}) {
  const opened = house(answers);
  const plan = planOf(rules);
  const route = (told: PaymentEvent) => ({ routed: destinationsOf(plan, told) });
  Object.assign(opened.receive, { route, needsLookUp: (told: PaymentEvent) => needsLookUp(plan, told) });
  Object.assign(opened.deliver, { route });
  return opened;
}

describe('the log of events', () => {
  it('has every event once: told, told in several channels, and told nowhere', async () => {
    const everywhere: AlertRule = {
      name: 'r',
      match: {},
      channels: ['C0BIG00001', 'C0TWO00001'],
      goesOn: true,
    };
    const failures = { ...everywhere, match: { event: 'payment_failed' as const } };
    const { receive, drain, eventLog, posts } = routed([failures]);
    await receiveEvent(receive, event, 'f');
    await receiveEvent(receive, success, 'f');
    await receiveEvent(receive, success, 'f');
    await drain(60_000);
    expect(posts).toHaveLength(3);
    const kinds = (await logged(eventLog)).map(({ event: { kind } }) => kind);
    expect(kinds.toSorted()).toEqual(['payment_failed', 'payment_success']);
  });

  it('costs the sender no call of the store more, wherever the event goes', async () => {
    const { receive, store } = house();
    const calls: string[] = [];
    const watched: typeof store = {
      ...store,
      read: (key) => (calls.push('read'), store.read(key)),
      create: (...given) => (calls.push('create'), store.create(...given)),
      write: (...given) => (calls.push('write'), store.write(...given)),
    };
    const spied = { ...receive, store: watched, addPayment: keepsPayments(watched) };
    await receiveEvent(spied, success, 'f');
    expect(calls).toEqual(['create']);
    await receiveEvent(spied, event, 'f');
    expect(calls).toEqual(['create', 'create']);
  });

  it('asks the service nothing about what is told nowhere', async () => {
    const { receive, deliver, drain, eventLog } = house();
    deliver.lookUp = () => Promise.reject(new Error('nothing is looked up here'));
    await receiveEvent(receive, success, 'f');
    await drain();
    expect(await logged(eventLog)).toEqual([expect.not.objectContaining({ lookup: expect.anything() })]);
  });

  it('holds what a rule asks for, from the look-up where the event is silent', async () => {
    const { reason: _, ...silent } = event;
    const declined: Lookup = confirm(
      { reference: 'SUB-1' as OrderReference },
      {
        status: 'FAILED',
        orderReference: 'SUB-1',
        gatewayMessage: 'No FUNDS',
        amountMinor: 500,
        currency: 'NGN',
      },
    );
    const { receive, drain, eventLog, clock } = routed([], { lookups: [declined] });
    await receiveEvent(receive, silent, 'f');
    await drain(60_000);
    const events = await logged(eventLog);
    const known = { key: event.key, amountMinor: 500, currency: 'NGN', reason: 'No FUNDS' };
    expect(events).toMatchObject([
      { event: known, receivedAtMs: clock.nowMs - 60_000, lookup: 'not_confirmed' },
    ]);
  });

  it('leaves out, and says so, what cannot be opened', async () => {
    const { receive, store } = house();
    await receiveEvent(receive, event, 'f');
    await store.create('message:alert:lost', 'sealed with a key that is gone', { index: { events: 2_000 } });
    const words: string[] = [];
    const log = createEventLog({ store, sealer, log: (level, text) => words.push(`${level} ${text}`) });
    expect(await logged(log)).toHaveLength(1);
    expect(words).toEqual(['error an event of the last week cannot be read; it is left out']);
  });
});

onBothStores('the log of events', (open) => {
  it('has all of many in their order, each once though it comes twice, and shows nothing of them at rest', async () => {
    const { one, contents, close } = await open();
    const { receive, clock } = house();
    const events = Array.from({ length: 600 }, (_, index) => ({ ...event, key: `k${index}` }));
    for (const told of [...events, ...events.slice(0, 10)]) {
      clock.nowMs += 1;
      await receiveEvent({ ...receive, store: one }, told, 'f');
    }
    const ids = (await logged(createEventLog({ store: one, sealer, log: () => undefined }))).map(
      (one) => one.event.key,
    );
    expect(ids).toEqual(events.map(({ key }) => key));
    expect(await contents.dump()).not.toContain('Insufficient funds');
    await close();
  });
});
