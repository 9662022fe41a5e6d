import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { createAlertRecovery } from '../../src/operations/alert-recovery.ts';
import {
  cardsHouse,
  failed,
  linesOf,
  mentionedIn,
  paidBy,
  pressables,
  recordOf,
  type CardsHouse,
} from './cards-house.ts';
import { sealer } from './house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const id = failed.key;

async function failure(house: CardsHouse): Promise<void> {
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
}

async function payment(house: CardsHouse, reference: string, more = {}): Promise<void> {
  house.records.set(reference, recordOf(reference, 'SUCCESS'));
  await house.receive(paidBy(reference, more));
  await house.drain(10_000);
}

describe('a payment after a failure', () => {
  it('of the same reference resolves the card, says after how long, and tells whoever acknowledged it', async () => {
    const house = cardsHouse();
    await failure(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.drain();
    house.clock.nowMs += 2 * 3_600_000;
    await payment(house, 'ORDER-1');
    const [parent, ...others] = house.parents();
    expect(others).toEqual([]);
    expect(parent?.shown.text).toMatch(/^✅ Recovered · Paid \(confirmed\) · NGN 12,500.00 · /);
    const lines = parent ? linesOf(parent) : '';
    expect(lines).toContain('reference ORDER-1 (the same reference)');
    expect(lines).toContain('2 h');
    expect(parent && pressables(parent)).toEqual([]);
    expect(parent && house.notes(parent.ts).map(({ shown }) => shown.text.split(' · ')[0])).toEqual([
      '👀 Acknowledged',
      '✅ Recovered',
    ]);
    expect(house.directs()).toMatchObject([
      { channel: ada, shown: { text: expect.stringContaining('Recovered') } },
    ]);
  });

  it('tells nobody in person when nobody acknowledged it', async () => {
    const house = cardsHouse();
    await failure(house);
    await payment(house, 'ORDER-1');
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Recovered/);
    expect(house.directs()).toEqual([]);
  });

  it.each([
    ['customer id', { customerEmail: 'other@example.com' }],
    ['e-mail, however it is written', { customerId: 'someone-else', customerEmail: ' JANE@example.com' }],
  ])('of another reference resolves it by the %s', async (_by, more) => {
    const house = cardsHouse();
    await failure(house);
    await payment(house, 'ORDER-2', more);
    const [parent] = house.parents();
    expect(parent?.shown.text).toMatch(/^✅ Recovered/);
    expect(parent && linesOf(parent)).toContain('reference ORDER-2 (another payment of the same customer)');
  });

  it('finds the customer by the e-mail of the record, where the event told none', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    const { customerEmail: _email, customerId: _id, ...bare } = failed;
    await house.receive(bare);
    await house.drain();
    await payment(house, 'ORDER-2');
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Recovered/);
  });

  it('of somebody else resolves nothing', async () => {
    const house = cardsHouse();
    await failure(house);
    await payment(house, 'ORDER-2', { customerId: 'cust-8', customerEmail: 'ann@example.com' });
    await house.drain(60_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined/);
  });

  it('resolves nothing until the look-up confirms it, and does then', async () => {
    const house = cardsHouse();
    await failure(house);
    await house.receive(paidBy('ORDER-2'));
    house.service.isAway = true;
    await house.drain(20_000);
    house.service.isAway = false;
    house.records.set('ORDER-2', recordOf('ORDER-2', 'PENDING'));
    await house.drain(60_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined/);
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.drain(120_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^✅ Recovered/);
  });

  it('gives up after a day without proof', async () => {
    const house = cardsHouse();
    await failure(house);
    await house.receive(paidBy('ORDER-2'));
    for (let hour = 0; hour < 26; hour += 1) {
      house.clock.nowMs += 3_600_000;
      await house.drain(0);
    }
    const asked = house.service.asked;
    house.clock.nowMs += 86_400_000;
    await house.drain(10_000);
    expect(house.service.asked).toBe(asked);
  });

  it('leaves a closed card closed, and resolves each failure of the customer', async () => {
    const house = cardsHouse();
    await failure(house);
    house.records.set('ORDER-3', recordOf('ORDER-3', 'FAILED'));
    await house.receive({ ...failed, key: 'payment_failed/order/ORDER-3', orderReference: 'ORDER-3' });
    await house.drain();
    await house.cards.move(id, { kind: 'close', by: bola, reason: 'settled by phone' });
    await payment(house, 'ORDER-2');
    expect(house.parents().map(({ shown }) => shown.text.split(' · ')[0])).toEqual([
      '☑️ Closed',
      '✅ Recovered',
    ]);
  });
});

describe('a failure of which one channel is told already, and whose event is to be sent again after a crash', () => {
  const channels = ['C0ALERTS01', 'C0BIG00001'];

  it('is resolved by a payment that comes in between, in every channel', async () => {
    const house = cardsHouse(undefined, channels);
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    await expect(house.receiveAndDie(failed)).rejects.toThrow(StoreUnavailable);
    await house.drain();
    expect(house.parents()).toHaveLength(1);
    await payment(house, 'ORDER-2');
    await house.receive(failed);
    await house.drain(10_000);
    expect(house.parents()).toHaveLength(2);
    for (const { shown } of house.parents()) expect(shown.text).toMatch(/^✅ Recovered/);
  });

  it('is acted on all the same', async () => {
    const house = cardsHouse(undefined, channels);
    await expect(house.receiveAndDie(failed)).rejects.toThrow(StoreUnavailable);
    await house.drain();
    expect(await house.cards.find(id)).toMatchObject({ event: { key: id }, card: { kind: 'open' } });
    expect(await house.cards.move(id, { kind: 'acknowledge', by: ada })).toMatchObject({ kind: 'moved' });
    await house.drain();
    expect(house.parents()[0]?.shown.text).toMatch(/^👀 Acknowledged/);
    await payment(house, 'ORDER-2');
    expect(house.directs()).toMatchObject([{ channel: ada }]);
  });
});

describe('a payment before the failure', () => {
  it('of the same reference: the first post says both, and has no buttons', async () => {
    const house = cardsHouse();
    await payment(house, 'ORDER-1');
    expect(house.parents()).toEqual([]);
    await house.receive(failed);
    await house.drain(1_000);
    const [parent] = house.parents();
    expect(parent?.shown.text).toMatch(/^✅ Recovered · Paid \(confirmed\)/);
    const lines = parent ? linesOf(parent) : '';
    expect(lines).toContain('the payment’s event came less than a minute before the failure’s');
    expect(parent && pressables(parent)).toEqual([]);
    expect(parent && mentionedIn(parent)).toEqual([]);
  });

  it('of the same customer alone resolves nothing: it was for something else', async () => {
    const house = cardsHouse();
    await payment(house, 'ORDER-2');
    house.clock.nowMs += 60_000;
    await failure(house);
    await house.drain(4_000_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined/);
  });

  it('under the same reference is held against the look-up: a payment that cannot be proven resolves nothing', async () => {
    const house = cardsHouse();
    await house.receive(paidBy('ORDER-1'));
    await failure(house);
    expect(house.parents()[0]?.shown.text).toMatch(/^❌ Declined/);
  });
});

describe('a payment’s event', () => {
  it('is refused, to be sent again, when it cannot be kept', async () => {
    const { recovery, store } = cardsHouse();
    await store.close();
    await expect(recovery.expect(paidBy('ORDER-1'))).rejects.toThrow(StoreUnavailable);
  });

  it('is kept once however often it comes, and never with the card it saved', async () => {
    const house = cardsHouse();
    const token = { tokenKey: 'TOKEN-CANARY', cardPan: '411111******1111' };
    for (let times = 0; times < 3; times += 1) {
      await house.recovery.expect(paidBy('ORDER-1', { savedCard: token }));
    }
    const kept = await house.store.read('alert-payment:payment_success/order/ORDER-1');
    expect(kept?.version).toBe(1);
    expect(sealer.open(kept?.key ?? '', kept?.value ?? '')).not.toContain('CANARY');
  });

  it('holds up no alert when the key that names customers is gone', async () => {
    const house = cardsHouse();
    const logged: string[] = [];
    const { cards, store } = house;
    const broken = createAlertRecovery({
      store,
      sealer,
      cards,
      fingerprint: () => Promise.reject(new Error('the key cannot be opened')),
      lookUp: () => Promise.resolve({ kind: 'not_found' }),
      rememberMs: 1_000,
      now: () => house.clock.nowMs,
      log: (_level, message) => void logged.push(message),
    });
    await broken.linkFailure(failed, { kind: 'not_found' }, 0);
    expect(logged).toEqual(['a failure cannot be linked to its payments']);
  });
});
