import { describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../src/domain/alert.ts';
import { type EventLog, type LoggedEvent, createEventLog } from '../../../src/features/alerts/event-log.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { eventFinders } from '../../../src/features/alerts/found-event.ts';
import { alertsHouse, failed, openAlertsWorld, recordOf, startAlerts } from '../alerts-house.ts';
import { event, sealer } from '../house.ts';
import type { Log } from '../../../src/log.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { onBothStores } from '../two-stores.ts';

const success: PaymentEvent = { ...event, kind: 'payment_success', key: 'payment_success:SUB-1' };

async function logged(log: EventLog): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const page of log.since(0)) events.push(...page);
  return events;
}

function logOf({ store }: Pick<ReturnType<typeof alertsHouse>, 'store'>): EventLog {
  return createEventLog({ store, sealer, log: () => undefined });
}

describe('the log of events', () => {
  it('has every event once, whether it was posted in no, one or several channels', async () => {
    const everywhere: AlertRule = {
      name: 'r',
      match: {},
      channels: ['C0BIG00001', 'C0TWO00001'],
      continues: true,
    };
    const failures = { ...everywhere, match: { event: 'payment_failed' as const } };
    const house = alertsHouse();
    house.routes.rules = [failures];
    for (const told of [event, success, success]) await house.receive(told);
    await house.drain(60_000);
    expect(house.parents()).toHaveLength(3);
    const events = await logged(logOf(house));
    const channels = events.flatMap((one) => one.channels ?? []);
    expect(channels.toSorted()).toEqual(
      house
        .parents()
        .map((message) => message.channel)
        .toSorted(),
    );
    const kinds = events.map(({ event: { kind } }) => kind);
    expect(kinds.toSorted()).toEqual(['payment_failed', 'payment_success']);
  });

  it('has events that were posted nowhere, without a look-up', async () => {
    const house = alertsHouse();
    await house.receive(success);
    await house.drain();
    expect(house.service.asked).toBe(0);
    expect(await logged(logOf(house))).toEqual([expect.not.objectContaining({ lookup: expect.anything() })]);
  });

  it('completes an event by its look-up', async () => {
    const { reason: _, ...silent } = event;
    const house = alertsHouse();
    house.records.set('SUB-1', {
      status: 'FAILED',
      orderReference: 'SUB-1',
      gatewayMessage: 'No FUNDS',
      amountMinor: 500,
      currency: 'NGN',
    });
    await house.receive(silent);
    await house.drain(60_000);
    const known = { key: event.key, amountMinor: 500, currency: 'NGN', reason: 'No FUNDS' };
    expect(await logged(logOf(house))).toMatchObject([
      { event: known, receivedAtMs: house.clock.nowMs - 60_000, lookup: 'not_confirmed' },
    ]);
  });

  it('leaves out an unreadable event, and logs it with the fix of its reason', async () => {
    const { store, ...house } = alertsHouse();
    await house.receive(event);
    await store.create('message:alert:damaged', 'no record', { index: { events: 2_000 } });
    await store.create('event:newer', '99 of a newer release', { index: { events: 3_000 } });
    const lines: string[] = [];
    const write: Log = (level, words, fields) => lines.push(`${level} ${words} ${String(fields?.['fix'])}`);
    expect(await logged(createEventLog({ store, sealer, log: write }))).toHaveLength(1);
    const otherKeys = createSealer([{ id: 'other', key: Buffer.alloc(32, 1) }]);
    expect(await logged(createEventLog({ store, sealer: otherKeys, log: write }))).toEqual([]);
    const said = 'error an event of the last week cannot be read; it is left out';
    const [report, newer, key] = [/Report this line/, /newer release/, /SEALING_KEYS/].map((fix) =>
      expect.stringMatching(new RegExp(`^${said} .*${fix.source}`)),
    );
    expect(lines).toEqual([report, newer, report, newer, key]);
  });
});

it('the success of an own charge or link is left out beside it, also if only a look-up proves the reference', async () => {
  const house = alertsHouse();
  house.routes.successes = 'C0ALERTS01';
  const { orderReference: _unsigned, ...bare } = success;
  const money = { amountMinor: 1_250_000, currency: 'NGN' };
  const hinted = { ...money, transactionId: 'T-pay-own', referenceHint: 'pay-own' };
  await house.receive({ ...bare, ...hinted, key: 'payment_success/transaction/1' });
  house.records.set('pay-own', recordOf('pay-own', 'SUCCESS'));
  await house.drain(60_000);
  const [finder] = eventFinders(house.account, async (reference) => reference === 'pay-own');
  const entry = await house.store.read('message:alert:payment_success/transaction/1');
  expect(house.parents()[0]?.shown.text).toContain('✅ Paid (confirmed)');
  expect(entry && (await finder?.read(entry))).toBeUndefined();
});

it.each([
  ['given_back', true],
  ['paid', false],
] as const)(
  'a refund is found as one, also if an alert’s thread tells it; its record says %s',
  async (outcome, isProven) => {
    const house = alertsHouse();
    await house.receive(failed);
    await house.drain(60_000);
    const key = 'payment_given_back/0badcafe/order/ORDER-1';
    house.records.set('ORDER-1', { ...recordOf('ORDER-1', 'ANY'), outcome });
    await house.receive({ ...failed, kind: 'payment_given_back', key });
    await house.drain(60_000);
    expect(house.notes(house.parents()[0]?.ts ?? '')).toHaveLength(1);
    const [finder] = eventFinders(house.account, async () => false);
    const entry = await house.store.read(`message:alert:${key}`);
    const found = entry && (await finder?.read(entry));
    expect(found).toMatchObject({ kind: 'refund', reference: 'ORDER-1', isProven, isFailed: false });
  },
);

onBothStores('the log of events', (open) => {
  it('has many events in order, each once despite repeats, and stores them encrypted', async () => {
    const { one, contents, close } = await open();
    const world = openAlertsWorld();
    const house = startAlerts({ ...world, store: { ...one, keys: () => [] } });
    const events = Array.from({ length: 600 }, (_, index) => ({ ...event, key: `k${index}` }));
    for (const told of [...events, ...events.slice(0, 10)]) {
      world.clock.nowMs += 1;
      await house.receive(told);
    }
    const ids = (await logged(createEventLog({ store: one, sealer, log: () => undefined }))).map(
      (one) => one.event.key,
    );
    expect(ids).toEqual(events.map(({ key }) => key));
    expect(await contents.dump()).not.toContain('Insufficient funds');
    await close();
  });
});
