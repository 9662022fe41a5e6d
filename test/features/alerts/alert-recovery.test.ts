import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { createAlertRecovery } from '../../../src/features/alerts/alert-recovery.ts';
import { alertMessages } from '../../../src/features/alerts/alert.ts';
import { eventPrefix } from '../../../src/features/alerts/event-case.ts';
import { eventFinders } from '../../../src/features/alerts/found-event.ts';
import {
  alertsHouse,
  failed,
  linesOf,
  openAlertsWorld,
  paidBy,
  recordOf,
  startAlerts,
  type AlertsHouse,
} from '../alerts-house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const id = failed.key;

async function failure(house: AlertsHouse): Promise<void> {
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
}

async function payment(house: AlertsHouse, reference: string, more = {}): Promise<void> {
  house.records.set(reference, recordOf(reference, 'SUCCESS'));
  await house.receive(paidBy(reference, more));
  await house.drain(10_000);
}

function statesOf(house: AlertsHouse): (string | undefined)[] {
  return house.parents().map(({ shown }) => shown.text.split(' · ')[0]);
}

describe('a payment after a failure', () => {
  it.each([
    ['of the events', { event: 'Jane@Example.COM', record: undefined }],
    ['of the record', { event: undefined, record: 'JANE@example.com' }],
  ])('finds the customer by the e-mail %s, in upper or lower case', async (_whose, email) => {
    const house = alertsHouse();
    const { customerEmail: _event, customerId: _id, ...bare } = failed;
    const { customerEmail: _record, ...record } = recordOf('ORDER-1', 'FAILED');
    house.records.set('ORDER-1', { ...record, ...(email.record ? { customerEmail: email.record } : {}) });
    await house.receive({ ...bare, ...(email.event ? { customerEmail: email.event } : {}) });
    await house.drain();
    const { customerId: _other, ...paid } = paidBy('ORDER-2');
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(paid);
    await house.drain(10_000);
    expect(statesOf(house)).toEqual(['✅ Resolved by another payment']);
  });
});

describe('a later payment of another order', () => {
  it('resolves nothing if the currency differs; the thread gets a note', async () => {
    const house = alertsHouse();
    await failure(house);
    house.records.set('ORDER-2', { ...recordOf('ORDER-2', 'SUCCESS'), currency: 'USD' });
    await house.receive(paidBy('ORDER-2', { currency: 'USD' }));
    await house.drain(10_000);
    expect(statesOf(house)).toEqual(['❌ Declined by the bank']);
    const [note] = house.notes(house.parents()[0]?.ts ?? '');
    expect(note && linesOf(note)).toContain('The customer paid USD 12,500.00 for ORDER-2');
  });

  it('is compared with the failed charge’s record if the failure’s event has no amount, after retries too', async () => {
    const house = alertsHouse();
    const { amountMinor: _amount, currency: _currency, ...bare } = failed;
    await house.receive(bare);
    // Posted unchecked: the failed amount is unknown.
    house.service.isAway = true;
    await house.drain(30_000);
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(paidBy('ORDER-2'));
    await house.drain(30_000);
    house.service.isAway = false;
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    await house.drain(120_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Resolved/);
  });

  it('is checked again later if the service couldn’t say the failed amount, even if it is proven itself', async () => {
    const house = alertsHouse();
    const { amountMinor: _amount, currency: _currency, ...bare } = failed;
    // Posted as not found: its record comes later.
    await house.receive(bare);
    await house.drain();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    house.service.isAway = true;
    await house.recovery.addOwnPayment({
      reference: 'ORDER-2',
      money: { minor: 1_250_000, currency: 'NGN' },
      customerEmail: 'jane@example.com',
      atMs: house.clock.nowMs,
    });
    await house.drain(10_000);
    house.service.isAway = false;
    await house.drain(60_000);
    expect(statesOf(house)).toEqual(['✅ Resolved by another payment']);
  });

  it('resolves it by the card, if the bot charged both and no event names the customer', async () => {
    const house = alertsHouse();
    const nobody = { customerId: undefined, customerEmail: undefined } as never;
    for (const reference of ['ORDER-1', 'ORDER-2', 'ORDER-3']) {
      const { customerEmail: _email, ...record } = recordOf(
        reference,
        reference === 'ORDER-1' ? 'FAILED' : 'SUCCESS',
      );
      house.records.set(reference, record);
      house.charges.set(reference, { card: reference === 'ORDER-2' ? 'other-card' : 'card' });
    }
    await house.receive({ ...failed, ...(nobody as object) });
    await house.drain();
    await house.receive(paidBy('ORDER-2', nobody));
    await house.drain(10_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined/);
    await house.receive(paidBy('ORDER-3', nobody));
    await house.drain(10_000);
    const [parent] = house.parents();
    expect(parent?.shown.text).toMatch(/^✅ Resolved/);
    expect(parent && linesOf(parent)).toContain('Paid by  ORDER-3');
  });
});

describe('a payment of an order that failed itself', () => {
  const third = { ...failed, key: 'payment_failed/order/ORDER-3', orderReference: 'ORDER-3' };

  async function twoFailures(): Promise<AlertsHouse> {
    const house = alertsHouse();
    await failure(house);
    house.records.set('ORDER-3', recordOf('ORDER-3', 'FAILED'));
    await house.receive(third);
    await house.drain();
    return house;
  }

  it('resolves only that alert; another of the same customer and amount stays open and gets a note', async () => {
    const house = await twoFailures();
    await payment(house, 'ORDER-1');
    expect(statesOf(house)).toEqual(['✅ Resolved: paid', '❌ Declined by the bank']);
    const [, other] = house.parents();
    const [note, ...more] = house.notes(other?.ts ?? '');
    expect(more).toEqual([]);
    const lines = note ? linesOf(note) : '';
    expect(lines).toContain('The customer paid NGN 12,500.00 for ORDER-1, ');
    expect(lines).toContain('If that pays this too, resolve it.');
    // Still so after a later failure makes the payment search again.
    await house.receive({ ...failed, key: 'payment_failed/order/ORDER-5', orderReference: 'ORDER-5' });
    await house.drain(20_000);
    expect(statesOf(house).slice(0, 2)).toEqual(['✅ Resolved: paid', '❌ Declined by the bank']);
    // A payment without a failure of its own resolves both.
    await payment(house, 'ORDER-4');
    const another = '✅ Resolved by another payment';
    expect(statesOf(house)).toEqual(['✅ Resolved: paid', another, another]);
  });

  it('resolves no other alert if it searches again after its own alert is forgotten', async () => {
    const house = await twoFailures();
    await payment(house, 'ORDER-1');
    const told = await alertMessages(house.store, id);
    for (const key of [eventPrefix + id, ...told.map((message) => message.key)]) {
      const entry = await house.store.read(key);
      if (entry) await house.store.write(entry, '', { ttlMs: 0, index: {} });
    }
    expect(await house.alerts.find(id)).toBeUndefined();
    const late = { ...failed, key: 'payment_failed/order/ORDER-5', orderReference: 'ORDER-5' };
    await house.recovery.matchFailure(late, { kind: 'not_found' }, house.clock.nowMs - 3_600_000);
    await house.drain(20_000);
    expect(statesOf(house)).toEqual(['✅ Resolved: paid', '❌ Declined by the bank']);
  });
});

/** An event of a service that signs only the transaction id. */
function signed(kind: PaymentEvent['kind'], reference: string): PaymentEvent {
  const transactionId = `T-${reference}`;
  return { kind, key: `${kind}/transaction/${reference}`, transactionId, referenceHint: reference };
}

describe('a charge of the bot that is proven, without any event', () => {
  const charged = {
    reference: 'pay-1',
    money: { minor: 1_250_000, currency: 'NGN' },
    customerEmail: 'x@example.com',
  };
  const again = { ...failed, key: 'payment_failed/order/pay-0', orderReference: 'pay-0' };
  const prove = async (house: AlertsHouse, charge = charged) => {
    await house.recovery.addOwnPayment({ ...charge, atMs: house.clock.nowMs });
    await house.drain(10_000);
  };

  it('resolves the alert it was begun from, with any amount and customer, and the alert says so', async () => {
    const house = alertsHouse();
    await failure(house);
    house.service.isAway = true;
    house.charges.set('pay-1', { card: 'card', alert: id });
    await prove(house, { ...charged, money: { minor: 1, currency: 'NGN' } });
    expect(statesOf(house)).toEqual(['✅ Resolved by another payment']);
    const [parent] = house.parents();
    expect(parent && linesOf(parent)).toContain('Paid by  pay-1, for this alert');
    // As after a crash.
    await prove(house);
    expect(house.notes(parent?.ts ?? '')).toHaveLength(1);
  });

  it('also resolves the alert of an earlier charge begun from the same alert, and no other', async () => {
    const house = alertsHouse();
    await failure(house);
    house.charges.set('pay-0', { card: 'card', alert: id });
    house.records.set('pay-0', recordOf('pay-0', 'FAILED'));
    await house.receive(again);
    house.records.set('ORDER-3', recordOf('ORDER-3', 'FAILED'));
    await house.receive({ ...failed, key: 'payment_failed/order/ORDER-3', orderReference: 'ORDER-3' });
    await house.drain();
    house.charges.set('pay-1', { card: 'card', alert: again.key });
    await prove(house, { ...charged, customerEmail: 'jane@example.com' });
    expect(statesOf(house)).toEqual([
      '✅ Resolved by another payment',
      '✅ Resolved by another payment',
      '❌ Declined by the bank',
    ]);
    const [, , other] = house.parents();
    const [note] = house.notes(other?.ts ?? '');
    expect(note && linesOf(note)).toContain('The customer paid NGN 12,500.00 for pay-1');
  });

  it('resolves the first alert of a chain of three charges, each begun from the alert of the one before', async () => {
    const house = alertsHouse();
    await failure(house);
    const generations = ['pay-0', 'pay-1', 'pay-2'];
    let from = id;
    for (const reference of generations) {
      house.charges.set(reference, { card: 'card', alert: from });
      house.records.set(reference, recordOf(reference, 'FAILED'));
      from = `payment_failed/order/${reference}`;
      await house.receive({ ...failed, key: from, orderReference: reference });
      await house.drain();
    }
    // The claim is stored on the first alert.
    await house.claims.claim(from, { reference: 'pay-3', by: ada });
    expect(await house.claims.claim(id, { reference: 'pay-4', by: bola })).toMatchObject({
      kind: 'taken',
      taken: { kind: 'charging', charge: { reference: 'pay-3' } },
    });
    house.charges.set('pay-3', { card: 'card', alert: from });
    await prove(house, { ...charged, reference: 'pay-3', money: { minor: 1, currency: 'NGN' } });
    expect(statesOf(house)).toEqual(Array.from({ length: 4 }, () => '✅ Resolved by another payment'));
  });

  it('resolves only its own order’s alert, before and after its events', async () => {
    const house = alertsHouse();
    const { customerId: _id, ...ofFailure } = again;
    house.records.set('pay-0', recordOf('pay-0', 'SUCCESS'));
    house.records.set('ORDER-3', recordOf('ORDER-3', 'FAILED'));
    await house.receive({ ...failed, key: 'payment_failed/order/ORDER-3', orderReference: 'ORDER-3' });
    await house.drain();
    const charge = { ...charged, reference: 'pay-0', customerEmail: 'jane@example.com' };
    house.charges.set('pay-0', { card: 'card' });
    await prove(house, { ...charge, customerEmail: 'x@example.com' });
    await house.receive(ofFailure);
    await house.drain(20_000);
    const states = ['❌ Declined by the bank', '✅ Resolved: paid'];
    expect(statesOf(house)).toEqual(states);
    const { customerId: _, ...paid } = paidBy('pay-0');
    await house.receive(paid);
    await house.drain(10_000);
    expect(statesOf(house)).toEqual(states);
  });

  it('begun from an alert shares its claim and its payment, if only transaction ids are signed, too', async () => {
    const house = alertsHouse();
    await failure(house);
    house.records.set('ORDER-3', recordOf('ORDER-3', 'FAILED'));
    await house.receive({ ...failed, key: 'payment_failed/order/ORDER-3', orderReference: 'ORDER-3' });
    house.charges.set('pay-0', { card: 'card', alert: id });
    house.records.set('pay-0', recordOf('pay-0', 'FAILED'));
    const ofCharge = signed('payment_failed', 'pay-0');
    await house.receive(ofCharge);
    await house.drain();
    await house.claims.claim(id, { reference: 'pay-1', by: ada });
    expect(await house.claims.claim(ofCharge.key, { reference: 'pay-2', by: bola })).toMatchObject({
      kind: 'taken',
      taken: { kind: 'charging', charge: { reference: 'pay-1' } },
    });
    house.charges.set('pay-1', { card: 'card', alert: ofCharge.key });
    house.records.set('pay-1', { ...recordOf('pay-1', 'SUCCESS'), orderAmountMinor: 1_250_000 });
    await prove(house, { ...charged, customerEmail: 'jane@example.com' });
    expect(statesOf(house)).toEqual([
      '✅ Resolved by another payment',
      '❌ Declined by the bank',
      '✅ Resolved by another payment',
    ]);
  });
});

describe('a payment’s event', () => {
  it('delays no alert if the key that hashes customers is unreadable', async () => {
    const house = alertsHouse();
    const logged: string[] = [];
    const broken = createAlertRecovery(
      {
        ...house.account,
        fingerprint: () => Promise.reject(new Error('the key cannot be opened')),
        log: (_level, message) => void logged.push(message),
      },
      house.alerts,
      () => Promise.resolve({ kind: 'not_found' }),
      () => Promise.resolve(undefined),
    );
    await broken.matchFailure(failed, { kind: 'not_found' }, 0);
    expect(logged).toEqual(['a failure cannot be linked to its payments']);
  });
});

describe('a failure that comes during a payment’s search', () => {
  it('is found by that payment’s next search', async () => {
    const house = alertsHouse();
    const { cases } = house.alerts;
    const { key } = paidBy('ORDER-1');
    async function search() {
      const { payment: found } = (await cases.find(key)) ?? {};
      if (!found) throw new Error('the payment is not there');
      return await house.recovery.search(found);
    }
    await house.recovery.addPayment(paidBy('ORDER-1'), house.clock.nowMs);
    await cases.apply(key, await search());
    const searched = await search();
    expect(searched).toMatchObject({ kind: 'searched', isSettled: true });
    await house.recovery.matchFailure(failed, { kind: 'not_found' }, house.clock.nowMs);
    await cases.apply(key, searched);
    // Due again: this search finds the failure.
    house.clock.nowMs += 10_000;
    const due = [...(await house.store.take(1_000)), ...(await house.store.take(1_000))];
    expect(due.map((entry) => entry.key)).toContain(eventPrefix + key);
  });
});

/** Names its order only unsigned, and no customer. */
function unsigned(kind: 'payment_failed' | 'payment_success', transaction: string, hint = 'ORDER-1') {
  const key = `${kind}/transaction/${transaction}`;
  return { kind, key, transactionId: transaction, referenceHint: hint } satisfies PaymentEvent;
}

function tells(house: AlertsHouse, id: string, status: string): void {
  house.records.set('ORDER-1', { ...recordOf('ORDER-1', status), id, orderAmountMinor: 1_250_000 });
}

describe('events that sign only a transaction id', () => {
  const failure1 = unsigned('payment_failed', 'T-1');

  it('resolve a failure by its order’s payment, which is another transaction', async () => {
    const house = alertsHouse();
    tells(house, 'T-1', 'FAILED');
    await house.receive(failure1);
    await house.drain();
    expect(statesOf(house)).toEqual(['❌ Declined by the bank']);
    tells(house, 'T-2', 'SUCCESS');
    await house.receive(unsigned('payment_success', 'T-2'));
    await house.drain(10_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Resolved: paid .* ORDER-1$/u);
    // The proven order stays known after the record has another transaction's id.
    const found = await house.alerts.lookUpNow(failure1.key);
    expect(found).toMatchObject({
      event: { orderReference: 'ORDER-1' },
      evidence: { lookup: { kind: 'confirmed' } },
    });
    const events = await house.recovery.unsignedOf('ORDER-1');
    expect(events.map(({ id }) => id).toSorted()).toEqual([failure1.key, 'payment_success/transaction/T-2']);
  });

  it('tell of a payment of a failed order whose alert had ended otherwise', async () => {
    const house = alertsHouse();
    tells(house, 'T-1', 'FAILED');
    await house.receive(failure1);
    await house.drain();
    await house.alerts.move(failure1.key, { kind: 'close', by: ada, reason: 'cash' });
    tells(house, 'T-2', 'SUCCESS');
    await house.receive(unsigned('payment_success', 'T-2'));
    await house.drain(10_000);
    const told = house.notes(house.parents()[0]?.ts ?? '').map(({ shown }) => shown.text);
    expect(told).toContainEqual(expect.stringMatching(/^🚨 Paid after it was resolved · .* · ORDER-1$/u));
  });

  it('resolve a failure once, although its payment comes as an event, a repeat and the bot’s own proof', async () => {
    const house = alertsHouse();
    tells(house, 'T-1', 'FAILED');
    await house.receive(failure1);
    await house.drain();
    tells(house, 'T-2', 'SUCCESS');
    const money = { minor: 1_250_000, currency: 'NGN' };
    const proven = { reference: 'ORDER-1', money, customerEmail: 'jane@example.com' };
    await house.recovery.addOwnPayment({ ...proven, atMs: house.clock.nowMs });
    await house.receive(unsigned('payment_success', 'T-2'));
    await house.receive(unsigned('payment_success', 'T-2'));
    await house.drain(20_000);
    const [parent] = house.parents();
    expect(parent?.shown.text).toMatch(/^✅ Resolved/);
    expect(house.notes(parent?.ts ?? '')).toHaveLength(1);
    expect((await house.alerts.cases.find(failure1.key))?.told).toBe(1);
  });

  it('resolve no failure that names the order only unsigned', async () => {
    const house = alertsHouse();
    tells(house, 'T-2', 'SUCCESS');
    await house.receive(failure1);
    await house.drain();
    await house.receive(unsigned('payment_success', 'T-2'));
    await house.recovery.addOwnPayment({
      reference: 'ORDER-1',
      money: { minor: 1_250_000, currency: 'NGN' },
      customerEmail: 'jane@example.com',
      atMs: house.clock.nowMs,
    });
    await house.drain(20_000);
    expect(statesOf(house)).toEqual(['❔ Event says failed, not checked']);
  });

  it('are looked up again until the service says which order the failure is of', async () => {
    const house = alertsHouse();
    tells(house, 'T-0', 'FAILED');
    await house.receive(failure1);
    await house.drain();
    tells(house, 'T-1', 'FAILED');
    house.service.isAway = true;
    await house.recovery.addOwnPayment({
      reference: 'ORDER-1',
      money: { minor: 1_250_000, currency: 'NGN' },
      customerEmail: 'jane@example.com',
      atMs: house.clock.nowMs,
    });
    await house.drain(10_000);
    expect(statesOf(house)).toEqual(['❔ Event says failed, not checked']);
    house.service.isAway = false;
    await house.drain(30_000);
    expect(statesOf(house)).toEqual(['✅ Resolved: paid']);
  });

  it('are looked up again until the service answers', async () => {
    const house = alertsHouse();
    tells(house, 'T-1', 'FAILED');
    house.service.isAway = true;
    await house.receive(failure1);
    await house.drain(15_000);
    const unchecked = house.parents()[0];
    expect(unchecked && linesOf(unchecked)).toContain('Reference  ORDER-1, not signed');
    house.service.isAway = false;
    await house.drain(40_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined by the bank .* ORDER-1$/u);
    const asked = house.service.asked;
    await house.drain(120_000);
    expect(house.service.asked).toBe(asked);
  });

  it('of a storm’s failure cause no look-up before its order is paid', async () => {
    const house = alertsHouse();
    tells(house, 'T-1', 'FAILED');
    await house.recovery.matchFailure(failure1, { kind: 'no_reference' }, house.clock.nowMs);
    await house.receive(unsigned('payment_success', 'T-9', 'ORDER-9'));
    await house.drain(10_000);
    expect(house.service.asked).toBe(0);
  });
});

it('a second payment for a muted failure is told in the channel that it was muted in', async () => {
  const world = openAlertsWorld();
  const mute = { id: 'V1', channel: 'C0VIP00001', by: ada, why: 'noise', match: {}, fromMs: 0 };
  const until = { untilMs: world.clock.nowMs + 60_000, isOver: false };
  world.routes.rules = [{ name: 'vip', match: {}, channels: [mute.channel], continues: false }];
  const house = startAlerts(world, undefined, { needs: { mutes: async () => [{ ...mute, ...until }] } });
  await failure(house);
  await payment(house, 'ORDER-2');
  expect(house.parents()).toEqual([]);
  await payment(house, 'ORDER-1');
  expect(house.slack.messages.map(({ channel, shown }) => [channel, shown.text])).toEqual([
    [mute.channel, expect.stringMatching(/^🚨 Paid twice · .* · ORDER-1$/u)],
  ]);
});

it('a payment that went to no channel and resolved an alert is found as proven', async () => {
  const house = alertsHouse();
  await failure(house);
  await payment(house, 'ORDER-2');
  const entry = await house.store.read(`${eventPrefix}${paidBy('ORDER-2').key}`);
  const finder = eventFinders(house, async () => false).find(({ prefix }) => entry?.key.startsWith(prefix));
  expect(entry && (await finder?.read(entry))).toMatchObject({
    state: '✅ Paid (confirmed)',
    isProven: true,
    money: { minor: 1_250_000, currency: 'NGN' },
  });
});
