import { describe, expect, it } from 'vitest';
import type { Recovery } from '../../../src/domain/alert-card.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { awayFrom, outages } from '../away-house.ts';
import {
  cardsHouse,
  failed,
  linesOf,
  mentionedIn,
  paidBy,
  pressables,
  recordOf,
  type CardsHouse,
} from '../cards-house.ts';

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

function recoveryOf(number: number): Recovery {
  const money = { minor: 1_250_000, currency: 'NGN' };
  return { reference: `BURST-${number}`, isSameReference: true, money, afterMs: 1_000 };
}

async function burst(house: CardsHouse, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    // oxlint-disable-next-line no-await-in-loop
    await house.receive(failure(number));
  }
}

function stormHouse(threshold = 5): CardsHouse {
  return cardsHouse(undefined, undefined, undefined, threshold);
}

function digestOf(house: CardsHouse): CardsHouse['messages'][number] {
  const [digest, ...others] = house.parents().filter(({ shown }) => /Storm/.test(shown.text));
  if (!digest || others.length > 0) throw new Error(`${others.length + (digest ? 1 : 0)} digests stand`);
  return digest;
}

function idOf(house: CardsHouse): string {
  const block = digestOf(house).shown.blocks.findLast(({ type }) => type === 'actions');
  const [button] = block?.type === 'actions' ? block.elements : [];
  return button?.type === 'button' ? (button.value ?? '') : '';
}

describe('a storm of failed charges', () => {
  it('is one digest with exact counts, however long its alerts would have waited for Slack’s pace', async () => {
    const house = stormHouse();
    await burst(house, 1, 2);
    await house.drain(0);
    await burst(house, 3, 60);
    await house.drain(30_000);
    expect(house.parents()).toHaveLength(2);
    const digest = digestOf(house);
    expect(digest.shown.text).toBe('🚨 Storm: 60 failed charges · NGN 750,000.00');
    expect(linesOf(digest)).toContain('1 of them above.');
    expect(linesOf(digest)).toContain('60×  Insufficient funds');
    expect(pressables(digest)).toEqual(['Acknowledge all', 'Show list', 'CSV']);
    expect(digest.pinged).toEqual([]);
    await burst(house, 61, 70);
    await house.drain(30_000);
    expect(digestOf(house).shown.text).toContain('70 failed charges');
    expect(house.parents()).toHaveLength(2);
  });

  it('is no storm with a threshold of 0', async () => {
    const house = stormHouse(0);
    await burst(house, 1, 30);
    await house.drain(60_000);
    expect(house.parents()).toHaveLength(30);
  });

  it('counts an event that comes again once, and looks nothing up whose event says enough', async () => {
    const house = stormHouse();
    await burst(house, 1, 30);
    await burst(house, 1, 30);
    await house.drain(30_000);
    expect(digestOf(house).shown.text).toContain('30 failed charges');
    expect(house.service.asked).toBe(0);
  });

  it('looks up what its event does not say, so that the sum is whole', async () => {
    const house = stormHouse(1);
    const { amountMinor: _amount, reason: _reason, ...silent } = failure(2);
    house.records.set('BURST-2', recordOf('BURST-2', 'FAILED'));
    await burst(house, 1, 1);
    await house.receive(silent);
    await house.drain(30_000);
    expect(digestOf(house).shown.text).toBe('🚨 Storm: 2 failed charges · NGN 25,000.00');
  });

  it('looks nothing up that is late: a long row of look-ups would keep its digest waiting', async () => {
    const house = stormHouse();
    for (let number = 1; number <= 30; number += 1) {
      const { amountMinor: _amount, reason: _reason, ...silent } = failure(number);
      // oxlint-disable-next-line no-await-in-loop -- in their order
      await house.receive(silent);
    }
    house.clock.nowMs += minuteMs;
    await house.drain(30_000);
    expect(digestOf(house).shown.text).toBe('🚨 Storm: 30 failed charges');
    expect(linesOf(digestOf(house))).toContain('30 failed charges');
    expect(house.service.asked).toBe(0);
    expect(house.parents()).toHaveLength(1);
  });

  it('counts as made good what was paid before the storm took its alert', async () => {
    const house = stormHouse();
    const first = failure(1);
    // Slack refuses this one message for now: it is tried again when the storm is on.
    house.answers.push({ kind: 'refused', slackError: 'msg_too_long', fix: 'none', about: 'message' });
    await house.receive(first);
    await house.drain(5_000);
    house.records.set('BURST-1', recordOf('BURST-1', 'SUCCESS'));
    await house.receive(paidBy('BURST-1', { customerEmail: 'c1@example.com', customerId: 'cust-1' }));
    await house.drain(10_000);
    expect((await house.cards.read(first.key)).card.kind).toBe('recovered');
    for (let minute = 0; minute < 59; minute += 4) {
      // oxlint-disable-next-line no-await-in-loop
      await burst(house, 100 + minute * 10, 107 + minute * 10);
      // oxlint-disable-next-line no-await-in-loop
      await house.drain(4 * minuteMs);
    }
    await house.drain(4 * minuteMs);
    const seen = await house.storms.see(idOf(house));
    expect(seen?.recovered).toBe(1);
  });

  it('ends by itself once it is quiet, says so in the digest, and what comes then is told singly', async () => {
    const house = stormHouse();
    await burst(house, 1, 10);
    await house.drain(4 * minuteMs);
    expect(digestOf(house).shown.text).toMatch(/^🚨 Storm:/);
    await house.drain(2 * minuteMs);
    expect(digestOf(house).shown.text).toBe('☑️ Storm over: 10 failed charges · NGN 125,000.00');
    expect(pressables(digestOf(house))).toEqual(['Acknowledge all', 'Show list', 'CSV']);
    await burst(house, 11, 12);
    await house.drain();
    expect(house.parents()).toHaveLength(3);
    expect(digestOf(house).shown.text).toContain('10 failed charges');
    expect(await house.storms.channel('C0ALERTS01', 'payment_failed')).toMatchObject({
      ended: { isTold: true },
    });
  });

  it('goes on past a quiet time that is shorter than the window', async () => {
    const house = stormHouse();
    await burst(house, 1, 10);
    await house.drain(4 * minuteMs);
    await burst(house, 11, 13);
    await house.drain(4 * minuteMs);
    expect(digestOf(house).shown.text).toBe('🚨 Storm: 13 failed charges · NGN 162,500.00');
    await house.drain(2 * minuteMs);
    expect(digestOf(house).shown.text).toContain('Storm over');
  });

  it('is not kept alive by a failure now and then', async () => {
    const house = stormHouse();
    await burst(house, 1, 10);
    for (let number = 11; number <= 13; number += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other is what a trickle is
      await house.drain(3 * minuteMs);
      // oxlint-disable-next-line no-await-in-loop
      await burst(house, number, number);
    }
    await house.drain(20_000);
    expect(digestOf(house).shown.text).toContain('Storm over');
    expect(await house.storms.channel('C0ALERTS01', 'payment_failed')).not.toHaveProperty('storm');
  });

  it('has its digest posted anew when somebody deleted it', async () => {
    const house = stormHouse();
    await burst(house, 1, 10);
    await house.drain(20_000);
    digestOf(house).isGone = true;
    await burst(house, 11, 11);
    await house.drain(30_000);
    expect(digestOf(house).shown.text).toContain('11 failed charges');
  });

  it('is made of a backlog that Slack’s outage left, and told within two minutes of its return', async () => {
    const house = stormHouse(20);
    const slack = awayFrom(house, true);
    const [[, away] = []] = outages;
    if (!away) throw new Error('There are outages.');
    slack.leave(away);
    for (let minute = 0; minute < 10; minute += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await burst(house, minute * 40 + 1, minute * 40 + 40);
      // oxlint-disable-next-line no-await-in-loop
      await house.drain(minuteMs);
    }
    expect(slack.calls.post).toBeGreaterThan(0);
    expect(house.messages).toEqual([]);
    slack.comeBack();
    await house.drain(2 * minuteMs);
    expect(house.parents().length).toBeLessThanOrEqual(21);
    expect(digestOf(house).shown.text).toContain('400 failed charges');
  });
});

describe('Acknowledge all', () => {
  it('is one decision, told to every card, and to what still comes in the same storm', async () => {
    const house = stormHouse();
    await burst(house, 1, 130);
    await house.drain(30_000);
    const id = idOf(house);
    expect(await house.takeStorm.acknowledge(id, ada)).toEqual({ kind: 'taken', count: 130 });
    expect(await house.takeStorm.acknowledge(id, bola)).toMatchObject({ kind: 'had', by: ada });
    await house.drain(30_000);
    for (const number of [1, 77, 130]) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await house.cards.read(failure(number).key)).card).toMatchObject({
        kind: 'acknowledged',
        by: ada,
      });
    }
    expect(mentionedIn(digestOf(house))).toEqual([ada]);
    expect(pressables(digestOf(house))).toEqual(['Show list', 'CSV']);
    await burst(house, 131, 190);
    await house.drain(60_000);
    expect((await house.cards.read(failure(190).key)).card).toMatchObject({ kind: 'acknowledged', by: ada });
    expect(house.messages.filter(({ threadTs }) => threadTs !== undefined)).toEqual([]);
  });

  it('takes the alerts above the digest too, whose messages say so', async () => {
    const house = stormHouse();
    await burst(house, 1, 3);
    await house.drain(10_000);
    await burst(house, 4, 60);
    await house.drain(30_000);
    expect(house.parents()).toHaveLength(4);
    expect(await house.takeStorm.acknowledge(idOf(house), ada)).toEqual({ kind: 'taken', count: 60 });
    await house.drain(10_000);
    for (let number = 1; number <= 60; number += 1) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await house.cards.read(failure(number).key)).card).toMatchObject({ by: ada });
    }
    const singles = house.parents().filter((one) => one !== digestOf(house));
    expect(singles.map(({ shown }) => shown.text)).toEqual(
      singles.map(() => expect.stringMatching(/^👀 Acknowledged/)),
    );
  });

  it('leaves a card that somebody has in hand with them', async () => {
    const house = stormHouse();
    await burst(house, 1, 10);
    await house.drain(20_000);
    await house.cards.move(failure(8).key, { kind: 'acknowledge', by: bola });
    await house.takeStorm.acknowledge(idOf(house), ada);
    await house.drain(20_000);
    expect((await house.cards.read(failure(8).key)).card).toMatchObject({ by: bola });
  });

  it('says of a storm that nobody knows that it is not known', async () => {
    const house = stormHouse();
    expect(await house.takeStorm.acknowledge('C0ALERTS01/7', ada)).toEqual({ kind: 'unknown_storm' });
    expect(await house.takeStorm.acknowledge('../etc', ada)).toEqual({ kind: 'unknown_storm' });
  });
});

describe('a payment that makes a failure of a storm good', () => {
  it('resolves its card, is counted by the digest, and told to whoever took the storm on, in one message', async () => {
    const house = stormHouse();
    await burst(house, 1, 20);
    await house.drain(20_000);
    await house.takeStorm.acknowledge(idOf(house), ada);
    await house.drain(20_000);
    for (const number of [7, 8, 9]) {
      const reference = `BURST-${number}`;
      house.records.set(reference, recordOf(reference, 'SUCCESS'));
      // oxlint-disable-next-line no-await-in-loop
      await house.receive(
        paidBy(reference, { customerId: `cust-${number}`, customerEmail: `c${number}@example.com` }),
      );
    }
    await house.drain(60_000);
    expect((await house.cards.read(failure(8).key)).card).toMatchObject({ kind: 'recovered' });
    expect(linesOf(digestOf(house))).toContain('3 by payment');
    expect(house.directs()).toHaveLength(1);
    expect(house.directs()[0]).toMatchObject({
      channel: ada,
      shown: { text: '✅ Resolved: 3 of 20 failed charges · the storm you acknowledged' },
    });
    const address = `/archives/C0ALERTS01/p${digestOf(house).ts.replace('.', '')}`;
    expect(house.directs().map(linesOf).join()).toContain(`${address}|the digest>`);
  });

  it('is told to nobody in person when nobody took the storm on', async () => {
    const house = stormHouse();
    await burst(house, 1, 10);
    await house.drain(20_000);
    await house.cards.move(failure(8).key, { kind: 'recover', payment: recoveryOf(8) });
    await house.drain(20_000);
    expect(linesOf(digestOf(house))).toContain('1 by payment');
    expect(house.directs()).toEqual([]);
  });
});
