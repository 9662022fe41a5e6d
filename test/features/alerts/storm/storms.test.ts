import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../../src/domain/payment-event.ts';
import { openAlerts } from '../../../../src/features/alerts/event-case.ts';
import { stormMessage } from '../../../../src/features/alerts/storm/storm-message.ts';
import { stormPrefix, stormWindowMs } from '../../../../src/features/alerts/storm/storm.ts';
import { visibleText } from '../../../support/visible-text.ts';
import {
  alertsHouse,
  type AlertsHouse,
  failed,
  linesOf,
  type Message,
  paidBy,
  pressables,
  recordOf,
  slackFaults,
  startAlerts,
} from '../../alerts-house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const minuteMs = 60_000;

function failure(number: number, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const reference = `BURST-${number}`;
  const customerId = `cust-${number}`;
  const key = `payment_failed/order/${reference}`;
  return {
    ...failed,
    key,
    orderReference: reference,
    customerId,
    customerEmail: `c${number}@example.com`,
    ...more,
  };
}

async function burst(house: AlertsHouse, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    await house.receive(failure(number));
  }
}

function stormHouse(threshold = 5): AlertsHouse {
  return alertsHouse({ threshold });
}

function digestOf(house: AlertsHouse): Message {
  const [digest, ...others] = house.parents().filter(({ shown }) => /Storm/.test(shown.text));
  if (!digest || others.length > 0) throw new Error(`${others.length + (digest ? 1 : 0)} digests, not one`);
  return digest;
}

function idOf(house: AlertsHouse): string {
  return idIn(digestOf(house));
}

function idIn(digest: Message): string {
  const block = digest.shown.blocks.findLast(({ type }) => type === 'actions');
  const [button] = block?.type === 'actions' ? block.elements : [];
  return button?.type === 'button' ? (button.value ?? '') : '';
}

describe('a storm of failed charges', () => {
  it('looks up an alert whose event lacks fields, so the sum is complete', async () => {
    const house = stormHouse(1);
    const { amountMinor: _amount, reason: _reason, ...silent } = failure(2);
    house.records.set('BURST-2', recordOf('BURST-2', 'FAILED'));
    await burst(house, 1, 1);
    await house.receive(silent);
    await house.drain(30_000);
    expect(digestOf(house).shown.text).toBe('🚨 Storm: 2 failed charges · NGN 25,000.00');
  });

  it('does not look up late alerts: many look-ups would delay its digest', async () => {
    const house = stormHouse();
    for (let number = 1; number <= 30; number += 1) {
      const { amountMinor: _amount, reason: _reason, ...silent } = failure(number);
      await house.receive(silent);
    }
    house.clock.nowMs += minuteMs;
    await house.drain(30_000);
    expect(digestOf(house).shown.text).toBe('🚨 Storm: 30 failed charges');
    expect(linesOf(digestOf(house))).toContain('30 failed charges');
    expect(house.service.asked).toBe(0);
    expect(house.parents()).toHaveLength(1);
  });
});

it.each([150_000, 7_200_000])(
  'a clock that is put back by %i ms stops neither alerts nor digests',
  async (backMs) => {
    const house = stormHouse(2);
    await burst(house, 1, 2);
    await house.drain(20_000);
    house.clock.nowMs -= backMs;
    await burst(house, 3, 6);
    await house.drain(20_000);
    house.clock.nowMs -= backMs;
    await burst(house, 7, 9);
    await house.drain(20_000);
    expect(house.parents()).toHaveLength(3);
    expect(digestOf(house).shown.text).toContain('7 failed charges');
  },
);

describe('an alert that was posted just before a storm', () => {
  it.each([true, false])(
    'is escalated once itself if the storm is resolved first: %s',
    async (isResolved) => {
      const house = stormHouse();
      const rule = { name: 'late', match: {}, channels: ['C0ALERTS01'], continues: false };
      const escalate = [{ afterMs: 7 * minuteMs, to: { kind: 'group' as const, id: 'S0ONCALL01' } }];
      house.routes.rules = [{ ...rule, escalate }];
      await burst(house, 1, 5);
      await house.drain(4 * minuteMs, 10_000);
      await burst(house, 6, 8);
      await house.drain(4 * minuteMs, 10_000);
      for (const number of isResolved ? [6, 7, 8] : []) {
        const money = { minor: 1, currency: 'NGN' };
        const payment = { reference: `PAID-${number}`, isSameReference: false, afterMs: 1, money };
        await house.alerts.move(failure(number).key, { kind: 'recover', payment });
      }
      await house.drain(30 * minuteMs, 10_000);
      const calls = (message: Message | undefined): number =>
        house.notes(message?.ts ?? '').filter(({ shown }) => shown.text.startsWith('📣')).length;
      expect([calls(house.parents()[0]), calls(digestOf(house))]).toEqual(isResolved ? [1, 0] : [0, 1]);
    },
  );
});

/** Has a process die after it listed the alert in the storm that is on, before the digest counts it. */
async function diesAfterTying(house: AlertsHouse, event: PaymentEvent): Promise<void> {
  await house.receive(event);
  const listed = Promise.withResolvers<void>();
  const dying = startAlerts(house, async (name, effect) => {
    const result = await effect();
    if (name !== 'create event') return result;
    listed.resolve();
    return await new Promise(() => undefined);
  });
  await Promise.race([dying.drain(0), listed.promise]);
}

it('an alert is counted by the storm that listed it, although the process died before its digest counted it', async () => {
  const house = stormHouse();
  await burst(house, 1, 8);
  await house.drain(20_000);
  const digest = digestOf(house);
  await diesAfterTying(house, failure(9));
  // The storm ends before another process takes the alert.
  house.clock.nowMs += 2 * stormWindowMs;
  const storm = await house.store.read(`${stormPrefix}${idIn(digest)}`);
  if (storm) await house.storms.work(storm);
  expect(await house.storms.on(digest.channel)).toEqual([]);
  await house.drain(minuteMs);
  expect(digest.shown.text).toMatch(/^☑️ Storm over: 9 failed charges/u);
  expect(house.parents()).toHaveLength(1);
});

/** What the digest's thread says, a line for each reply. */
function repliesTo(house: AlertsHouse): string[] {
  return house.notes(digestOf(house).ts).map(({ shown }) => shown.text);
}

describe('an alert that only a digest shows', () => {
  it('is not among the open alerts, which end once somebody acknowledges them', async () => {
    const house = stormHouse();
    house.routes.rules = [{ name: 'all', match: {}, channels: ['C0ALERTS01'], continues: false }];
    await burst(house, 1, 5);
    await house.drain(20_000);
    await burst(house, 6, 8);
    await house.drain(20_000);
    const open = async () => (await house.alerts.cases.list(openAlerts('none'), { max: 50 })).length;
    expect(await open()).toBe(5);
    await house.alerts.move(failure(1).key, { kind: 'acknowledge', by: ada });
    expect(await open()).toBe(4);
  });

  it('is told in the digest’s thread if it is paid twice, or paid after it was resolved', async () => {
    const house = stormHouse();
    await burst(house, 1, 10);
    await house.drain(20_000);
    const money = { minor: 1_250_000, currency: 'NGN' };
    const byOther = { reference: 'PAID-8', isSameReference: false, afterMs: 1, money };
    await house.alerts.move(failure(8).key, { kind: 'recover', payment: byOther });
    await house.alerts.move(failure(9).key, { kind: 'close', by: ada, reason: 'paid in cash' });
    for (const reference of ['BURST-8', 'BURST-9', 'BURST-10']) {
      house.records.set(reference, recordOf(reference, 'SUCCESS'));
      await house.receive(paidBy(reference));
    }
    await house.drain(30_000);
    expect(repliesTo(house).toSorted()).toEqual([
      expect.stringMatching(/^🚨 Paid after it was resolved · .*BURST-9$/u),
      expect.stringMatching(/^🚨 Paid twice · .*BURST-8$/u),
    ]);
  });

  it('is told there of a refund that came before the digest counted it', async () => {
    const house = stormHouse();
    house.slack.meets = () => slackFaults.notSent;
    await burst(house, 1, 4);
    await house.drain(5_000);
    const refund = { kind: 'payment_given_back', key: 'payment_given_back/order/BURST-3' } as const;
    await house.receive({ ...failure(3), ...refund });
    await house.drain(5_000);
    await burst(house, 5, 10);
    house.slack.meets = () => undefined;
    await house.drain(2 * minuteMs);
    expect((await house.storms.items(idOf(house))).map(({ event }) => event.key)).toContain(failure(3).key);
    expect(repliesTo(house)).toEqual([expect.stringMatching(/given back.* · BURST-3$/u)]);
  });
});

describe('Acknowledge all', () => {
  it('sends the person no direct message for each payment, but for an alert assigned to them', async () => {
    const channels = ['C0ALERTS01', 'C0ALERTS02'];
    const house = alertsHouse({ threshold: 5, channels });
    const rules = channels.map((channel, index) => ({
      name: channel,
      match: { event: 'payment_failed' as const },
      channels: [channel],
      continues: true,
      ...(index === 1 && { digestAfter: 0 }),
    }));
    house.routes.rules = rules;
    await burst(house, 1, 10);
    await house.drain(20_000);
    const digest = house.parents().find(({ shown }) => /Storm/.test(shown.text));
    await house.storms.acknowledge(digest ? idIn(digest) : '', ada);
    await house.alerts.move(failure(8).key, { kind: 'assign', by: bola, to: ada });
    for (const number of [8, 9]) {
      const payment = { reference: `PAID-${number}`, isSameReference: false, afterMs: 1 };
      const money = { minor: 1, currency: 'NGN' };
      await house.alerts.move(failure(number).key, { kind: 'recover', payment: { ...payment, money } });
    }
    await house.drain(20_000);
    const toAda = house.slack.messages
      .filter(({ channel }) => channel === ada)
      .map(({ shown }) => shown.text);
    expect(toAda).toEqual([
      expect.stringMatching(/Assigned to you.*BURST-8/),
      expect.stringMatching(/Resolved.*BURST-8/),
    ]);
  });
});

/** A storm that is over, acknowledged and resolved by Ada. */
async function resolvedStorm(): Promise<AlertsHouse> {
  const house = stormHouse();
  await burst(house, 1, 10);
  await house.drain(20_000);
  const id = idOf(house);
  await house.storms.acknowledge(id, ada);
  expect((await house.storms.close(id, ada, 'too early'))?.isMoved).toBe(false);
  await house.drain(2 * stormWindowMs, 10_000);
  expect((await house.storms.close(id, ada, 'The bank works again'))?.isMoved).toBe(true);
  expect((await house.storms.close(id, bola, 'again'))?.state.closed).toMatchObject({ by: ada });
  await house.drain(20_000);
  return house;
}

describe('Resolve all', () => {
  it('resolves each of its alerts for people: none can be acknowledged or charged', async () => {
    const house = await resolvedStorm();
    const { key } = failure(8);
    expect((await house.alerts.read(key)).state).toMatchObject({
      kind: 'closed',
      reason: 'The bank works again',
    });
    expect(await house.alerts.move(key, { kind: 'acknowledge', by: bola })).toMatchObject({ why: 'ended' });
    expect(await house.alerts.taken(key)).toMatchObject({ kind: 'ended', state: { by: ada } });
    expect(await house.storms.ofPerson(ada)).toEqual([]);
  });

  it('a later payment still resolves its alert, and is no alarm', async () => {
    const house = await resolvedStorm();
    house.records.set('BURST-8', recordOf('BURST-8', 'SUCCESS'));
    await house.receive(paidBy('BURST-8', { customerId: 'cust-8', customerEmail: 'c8@example.com' }));
    await house.drain(30_000);
    expect((await house.alerts.read(failure(8).key)).state).toMatchObject({ kind: 'recovered' });
    expect(linesOf(digestOf(house))).toContain('1 by payment');
    expect(repliesTo(house)).toEqual([]);
  });

  it('leaves no alert that a new payment link would be for: the link would be refused for ever', async () => {
    const of8 = { customerEmail: 'c8@example.com', money: { minor: 1_250_000, currency: 'NGN' } };
    const house = await resolvedStorm();
    expect(await house.recovery.alertFor(of8)).toBeUndefined();
  });

  it('resolves no alert that nobody saw in the digest: one that is counted later makes it unresolved again', async () => {
    const house = stormHouse();
    await burst(house, 1, 8);
    await house.drain(20_000);
    const id = idOf(house);
    await house.storms.acknowledge(id, ada);
    await diesAfterTying(house, failure(9));
    house.clock.nowMs += 2 * stormWindowMs;
    const storm = await house.store.read(`${stormPrefix}${id}`);
    if (storm) await house.storms.work(storm);
    expect((await house.storms.close(id, ada, 'The bank works again'))?.isMoved).toBe(true);
    await house.drain(minuteMs);
    expect((await house.alerts.read(failure(9).key)).state).toMatchObject({ kind: 'acknowledged', by: ada });
    expect(digestOf(house).shown.text).toMatch(/^☑️ Storm over: 9 failed charges/u);
    expect(await house.storms.ofPerson(ada)).toMatchObject([{ id }]);
    expect((await house.storms.close(id, ada, 'Looked at it'))?.isMoved).toBe(true);
  });
});

it('a digest says what is muted while the storm is on; afterwards nothing would edit it when the mute ends', async () => {
  const house = stormHouse();
  await burst(house, 1, 10);
  await house.drain(20_000);
  const id = idOf(house);
  const { channel } = digestOf(house);
  const mute = { id: 'M1', channel, match: {}, why: 'The bank is down', by: ada, fromMs: 0, isOver: false };
  const muted = [{ ...mute, untilMs: house.clock.nowMs + 60 * minuteMs }];
  const shownAccount = { environment: 'live', account: 'Lagos store' } as const;
  async function shown(): Promise<string> {
    const storm = await house.storms.find(id);
    return storm
      ? visibleText(stormMessage({ storm, muted, key: id, mayBeRepeat: false }, shownAccount).blocks)
      : 'unknown';
  }
  expect(await shown()).toContain('Muted now');
  await house.drain(2 * stormWindowMs, 10_000);
  expect(await shown()).toContain('Storm over');
  expect(await shown()).not.toMatch(/Muted now|one by one again/);
});

describe('a storm in two channels', () => {
  it('acknowledged in one, keeps its button in the other', async () => {
    const house = alertsHouse({ threshold: 5, channels: ['C0ALERTS01', 'C0ALERTS02'] });
    await burst(house, 1, 10);
    await house.drain(20_000);
    const digests = () => house.parents().filter(({ shown }) => /Storm/.test(shown.text));
    expect(
      digests()
        .map(({ channel }) => channel)
        .toSorted(),
    ).toEqual(['C0ALERTS01', 'C0ALERTS02']);
    const [first, second] = digests();
    if (!first || !second) throw new Error('Not two digests.');
    await house.storms.acknowledge(idIn(first), ada);
    await house.drain(5_000);
    const [own, other] = digests().map((digest) => JSON.stringify(digest.shown.blocks));
    expect(own).toContain('Acknowledged by');
    expect(other).toContain('Acknowledge all');
  });

  it('acknowledged in one: an alert of its own in the other says so once somebody presses it', async () => {
    const house = stormHouse();
    const first = { name: 'first', match: {}, channels: ['C0ALERTS01'], continues: true };
    house.routes.rules = [first, { ...first, name: 'second', channels: ['C0ALERTS02'], digestAfter: 0 }];
    await burst(house, 1, 10);
    await house.drain(20_000);
    // The first came before the storm.
    expect(await house.alerts.cases.list(openAlerts('none'), { max: 50 })).toHaveLength(1);
    await house.storms.acknowledge(idOf(house), ada);
    await house.drain(5_000);
    const single = () => house.parents().findLast(({ channel }) => channel === 'C0ALERTS02')!;
    const pressed = await house.alerts.move(failure(10).key, { kind: 'acknowledge', by: bola });
    expect(pressed).toMatchObject({ kind: 'refused', why: 'acknowledged', state: { by: ada } });
    await house.drain(5_000);
    expect(single().shown.text).toMatch(/^👀 Acknowledged: .*BURST-10$/);
    expect(pressables(single())).not.toContain('Acknowledge');
  });
});

function referenceOf(number: number): string {
  return `PAID-${number}`;
}

function payment(number: number, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const customer = { customerId: `payer-${number}`, customerEmail: `p${number}@example.com` };
  return paidBy(referenceOf(number), { ...customer, ...more });
}

/** Payments go to the same channel as failures. */
function paidHouse(): AlertsHouse {
  const house = stormHouse();
  house.routes.successes = 'C0ALERTS01';
  return house;
}

/** The service confirms all of them. */
async function pay(house: AlertsHouse, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    house.records.set(referenceOf(number), recordOf(referenceOf(number), 'SUCCESS'));
    await house.receive(payment(number));
  }
}

function digests(house: AlertsHouse, words: RegExp): Message[] {
  return house.parents().filter(({ shown }) => words.test(shown.text));
}

const ofPayments = /Many payments/;

describe('many payments in a channel', () => {
  it('do not hide an unconfirmed one', async () => {
    const house = paidHouse();
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

  it('do not hide one whose card was not stored', async () => {
    const house = paidHouse();
    await pay(house, 1, 10);
    house.records.set(referenceOf(11), recordOf(referenceOf(11), 'SUCCESS'));
    await house.receive(payment(11, { cardSaved: { kind: 'no_token' } }));
    await house.receive(payment(12, { cardSaved: { kind: 'kept', face: {} } }));
    house.records.set(referenceOf(12), recordOf(referenceOf(12), 'SUCCESS'));
    await house.drain(30_000);
    expect(house.parents()).toHaveLength(2);
    const [digest] = digests(house, ofPayments);
    expect(digest?.shown.text).toContain('Many payments: 11 ·');
  });
});
