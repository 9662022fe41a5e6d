import { describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../src/domain/alert-route.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { createEventLog } from '../../../src/operations/alert/event-log.ts';
import {
  cardsHouse,
  failed,
  linesOf,
  paidBy,
  pressables,
  recordOf,
  type CardsHouse,
} from '../cards-house.ts';
import { sealer } from '../house.ts';

const channel = 'C0ALERTS01';
const ada = 'U0ADA00001';
const minuteMs = 60_000;
const threshold = 5;

function referenceOf(number: number): string {
  return `PAID-${number}`;
}

function payment(number: number, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const customer = { customerId: `payer-${number}`, customerEmail: `p${number}@example.com` };
  return paidBy(referenceOf(number), { ...customer, ...more });
}

/** Payments are told where failures are. */
function opened(rule?: AlertRule): CardsHouse {
  const house = cardsHouse(undefined, [channel], undefined, threshold);
  house.paidTo.push({ channel, ...(rule ? { rule } : {}) });
  return house;
}

/** The service knows them all as paid. */
async function pay(house: CardsHouse, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    house.records.set(referenceOf(number), recordOf(referenceOf(number), 'SUCCESS'));
    // oxlint-disable-next-line no-await-in-loop
    await house.receive(payment(number));
  }
}

async function fail(house: CardsHouse, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    const orderReference = `BURST-${number}`;
    // oxlint-disable-next-line no-await-in-loop
    await house.receive({ ...failed, key: `payment_failed/order/${orderReference}`, orderReference });
  }
}

function digests(house: CardsHouse, words: RegExp): CardsHouse['messages'] {
  return house.parents().filter(({ shown }) => words.test(shown.text));
}

const ofPayments = /Many payments/;
const ofFailures = /Storm/;

describe('many payments that a channel is told', () => {
  it('are told by one digest past the threshold, which is no alarm', async () => {
    const house = opened();
    await pay(house, 1, 2);
    await house.drain(0);
    await pay(house, 3, 60);
    await house.drain(30_000);
    const [digest, ...others] = digests(house, ofPayments);
    expect([others.length, house.parents().length]).toEqual([0, 2]);
    expect(digest?.shown.text).toBe('📥 Many payments: 60 · NGN 750,000.00 · as their events say');
    expect(digest && pressables(digest)).toEqual(['Show list', 'CSV']);
    const lines = digest ? linesOf(digest) : '';
    expect(lines).toContain('1 of them above');
    expect(lines).toContain('60 of 60');
    expect(lines).not.toMatch(/fail|Acknowledge|🚨/i);
  });

  it('end by themselves, and are told singly again', async () => {
    const house = opened();
    await pay(house, 1, 20);
    await house.drain(6 * minuteMs);
    const [digest] = digests(house, ofPayments);
    expect(digest?.shown.text).toMatch(/^☑️ Many payments, ended: 20 ·/);
    await pay(house, 21, 22);
    await house.drain(10_000);
    expect(house.parents()).toHaveLength(1 + 2);
  });

  it('do not hide the one that its look-up does not confirm', async () => {
    const house = opened();
    await pay(house, 1, 10);
    await house.receive(payment(11));
    house.records.set(referenceOf(12), recordOf(referenceOf(12), 'FAILED'));
    await house.receive(payment(12));
    await house.drain(30_000);
    const singles = house.parents().filter(({ shown }) => !ofPayments.test(shown.text));
    expect(singles).toHaveLength(2);
    expect(singles.at(-1)?.shown.text).toMatch(/⚠️ .*PAID-12/);
    expect(digests(house, ofPayments)[0]?.shown.text).toContain('Many payments: 10 ·');
  });

  it('do not hide the one whose card could not be kept', async () => {
    const house = opened();
    await pay(house, 1, 10);
    house.records.set(referenceOf(11), recordOf(referenceOf(11), 'SUCCESS'));
    await house.receive(payment(11, { cardSaved: { kind: 'no_token' } }));
    await house.receive(payment(12, { cardSaved: { kind: 'kept', face: {} } }));
    house.records.set(referenceOf(12), recordOf(referenceOf(12), 'SUCCESS'));
    await house.drain(30_000);
    expect(house.parents()).toHaveLength(2);
    const [digest] = digests(house, ofPayments);
    expect(digest?.shown.text).toContain('Many payments: 11 ·');
    expect(digest && linesOf(digest)).toMatch(/Cards saved\s*1/);
  });

  it('are counted by their events alone where they come faster than they can be looked up, which is said', async () => {
    const house = opened();
    await pay(house, 1, 30);
    house.clock.nowMs += minuteMs;
    await house.drain(30_000);
    const [digest] = digests(house, ofPayments);
    expect(digest && linesOf(digest)).toContain('0 of 30');
    expect(house.service.asked).toBe(0);
  });

  it('are all told singly by a rule that says so, and counted for themselves by one that calls somebody', async () => {
    const rule = { name: 'paid', match: {}, channels: [channel], goesOn: false };
    const singly = opened({ ...rule, digestAfter: 0 });
    await pay(singly, 1, 12);
    await singly.drain(30_000);
    expect(singly.parents()).toHaveLength(12);

    const calling = opened();
    await pay(calling, 1, 10);
    await calling.drain(10_000);
    const mention = { kind: 'group', id: 'S0ONCALL01' } as const;
    calling.paidTo.splice(0, 1, { channel, rule: { ...rule, mention } });
    await pay(calling, 11, 13);
    await calling.drain(10_000);
    expect(calling.parents()).toHaveLength(1 + 3);
  });

  it('have a digest of their own beside that of failures, each with its own count and end', async () => {
    const house = opened();
    await pay(house, 1, 10);
    await fail(house, 1, 20);
    await pay(house, 11, 20);
    await house.drain(60_000);
    expect(digests(house, ofPayments).map(({ shown }) => shown.text)).toEqual([
      '📥 Many payments: 20 · NGN 250,000.00 · as their events say',
    ]);
    const [storm, ...others] = digests(house, ofFailures);
    expect(others).toEqual([]);
    expect(storm?.shown.text).toBe('🚨 Storm: 20 failed charges · NGN 250,000.00');
    for (let number = 21; number <= 40; number += 5) {
      // oxlint-disable-next-line no-await-in-loop -- payments go on, failures do not
      await pay(house, number, number + 4);
      // oxlint-disable-next-line no-await-in-loop
      await house.drain(2 * minuteMs);
    }
    expect(digests(house, ofFailures)[0]?.shown.text).toContain('Storm over: 20');
    expect(digests(house, ofPayments)[0]?.shown.text).toContain('📥 Many payments: 40 ·');
  });

  it('make failures good as ever, and stand in the log of events', async () => {
    const house = opened();
    const log = createEventLog({
      store: house.store,
      sealer,
      now: () => house.clock.nowMs,
      log: () => undefined,
    });
    Object.assign(house.deliver, { logEvent: (...given: Parameters<typeof log.add>) => log.add(...given) });
    await fail(house, 1, 1);
    await pay(house, 1, 20);
    house.records.set('BURST-1', recordOf('BURST-1', 'SUCCESS'));
    await house.receive(paidBy('BURST-1'));
    await house.drain(30_000);
    expect((await house.cards.read('payment_failed/order/BURST-1')).card.kind).toBe('recovered');
    expect(digests(house, ofPayments)[0]?.shown.text).toContain('Many payments: 21 ·');
    const logged: (string | undefined)[] = [];
    for await (const { events } of log.between(0, house.clock.nowMs)) {
      logged.push(...events.map(({ kind, lookup }) => `${kind} ${lookup ?? ''}`));
    }
    expect(logged.filter((words) => words === 'payment_success confirmed')).toHaveLength(21);
    expect(logged).toHaveLength(22);
  });

  it('are nothing that anybody takes on', async () => {
    const house = opened();
    await pay(house, 1, 10);
    await house.drain(30_000);
    const { storm } = await house.storms.channel(channel, 'payment_success');
    expect(storm).toBeDefined();
    expect(await house.takeStorm.acknowledge(storm?.id ?? '', ada)).toEqual({ kind: 'unknown_storm' });
  });
});
