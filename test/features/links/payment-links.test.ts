import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import {
  away,
  failedEvent,
  followMs,
  openLinks,
  orderId,
  paidEvent,
  proven,
  reference,
  request,
  unheard,
  unproven,
} from '../links-house.ts';

type House = ReturnType<typeof openLinks>;
type Process = ReturnType<House['start']>;

async function make({ links, drain }: Process) {
  const beginning = await links.begin(request);
  if (beginning.kind !== 'begun') throw new Error(`It is ${beginning.kind}.`);
  const link = await beginning.carryOn();
  await drain();
  return link;
}

async function stateOf({ links }: Process) {
  return (await links.find(reference))?.state.kind;
}

const { orderReference: _reference, orderId: _orderId, ...unsigned } = paidEvent;

describe('a payment link', () => {
  it.each([
    ['the service’s order id alone', { ...unsigned, orderId }, 'paid'],
    ['another order', { ...paidEvent, orderReference: 'OTHER', orderId: 'other' }, 'open'],
    ['a saved-card charge', { ...paidEvent, isSavedCardCharge: true }, 'open'],
    [
      'a reference that is not signed, once the service proves it',
      { ...unsigned, referenceHint: reference },
      'paid',
    ],
  ])('is told by an event of %s: %s', async (_what, event: PaymentEvent, state) => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    house.service.lookups = [proven];
    await process.links.trigger(event);
    await process.drain(5_000);
    expect(await stateOf(process)).toBe(state);
  });

  it('stays open when an event says that a try failed, and notes it once', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    await process.links.trigger(failedEvent);
    const noted = (await process.links.find(reference))?.failure;
    house.clock.nowMs += 5_000;
    await process.links.trigger(failedEvent);
    const link = await process.links.find(reference);
    expect(link?.state.kind).toBe('open');
    expect(link?.failure).toEqual({ ...noted, why: 'Insufficient funds' });
    await process.drain(5_000);
    expect(house.shown()?.failure).toBeDefined();
  });

  it('is reviewed when a day of look-ups proves nothing, and paid by a later proof', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    await process.links.trigger(paidEvent);
    house.service.lookups = Array.from({ length: 2_000 }, () => unproven);
    await process.drain(86_400_000 + 600_000);
    expect(await stateOf(process)).toBe('review');
    expect(house.notes()).toEqual(['review']);
    const { looked } = house.service;
    expect(looked).toBeLessThan(400);
    house.service.lookups = [proven];
    expect((await process.links.lookNow(reference))?.link.state.kind).toBe('paid');
    await process.drain(5_000);
    expect(house.notes()).toEqual(['review', 'paid']);
  });

  it('stays open when an unsigned reference names it and the service proves nothing', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    await process.links.trigger({ ...unsigned, referenceHint: reference });
    await process.drain();
    expect(house.service.looked).toBe(1);
    expect(await stateOf(process)).toBe('open');
  });

  it('has one card and knows its order also when it is followed for as long as it is remembered', async () => {
    const house = openLinks(followMs);
    const process = house.start();
    await make(process);
    await process.drain(2_000);
    house.clock.nowMs += followMs;
    house.service.lookups = [away, { kind: 'not_found' }];
    await process.drain(600_000);
    expect(await stateOf(process)).toBe('aged');
    expect(house.cards()).toHaveLength(1);
    house.service.lookups = [proven];
    await process.links.trigger({ ...unsigned, orderId });
    await process.drain(10_000);
    expect(await stateOf(process)).toBe('paid');
    expect(house.cards()).toHaveLength(1);
  });

  it('finds a payment whose event was lost, soon at first and within ten minutes for ever', async () => {
    for (const paidAfterMs of [60_000, 3 * 3_600_000]) {
      const house = openLinks();
      const process = house.start();
      // oxlint-disable no-await-in-loop -- one link after the other
      await make(process);
      await process.drain(paidAfterMs);
      expect(await stateOf(process)).toBe('open');
      const { looked } = house.service;
      expect(looked).toBeLessThan(30);
      house.service.lookups = [proven];
      await process.drain(Math.min(paidAfterMs, 600_000));
      // oxlint-enable no-await-in-loop
      expect(await stateOf(process)).toBe('paid');
      expect(house.service.looked).toBe(looked + 1);
      expect(house.toldAlerts).toEqual([`alert-payment:proven/${reference}`]);
    }
  });
});

// Among replicas and crashes: test/records/cases.test.ts, and `npm run kills`.
describe('a payment link whose answer does not come', () => {
  it('is asked for again under its reference, and is lost when the order was made', async () => {
    const house = openLinks();
    const process = house.start();
    house.service.answers = [unheard];
    expect((await make(process)).state.kind).toBe('asking');
    expect(house.cards()).toEqual([]);
    await process.drain(120_000);
    expect(house.service.asked).toEqual([reference, reference]);
    expect(await stateOf(process)).toBe('lost');
    expect(house.cards()).toHaveLength(1);
  });

  it('is given up after six, and says so', async () => {
    const house = openLinks();
    const process = house.start();
    house.service.answers = Array.from({ length: 20 }, () => unheard);
    await make(process);
    await process.drain(3_600_000);
    expect(await stateOf(process)).toBe('lost');
    expect(house.service.asked).toHaveLength(6);
    expect(house.cards()).toHaveLength(1);
  });
});
