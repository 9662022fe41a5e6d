import { describe, expect, it } from 'vitest';
import {
  agent,
  away,
  desk,
  dyingStore,
  failedEvent,
  followMs,
  openLinks,
  paidEvent,
  proven,
  reference,
  request,
  unheard,
  unproven,
} from '../links-house.ts';

type House = ReturnType<typeof openLinks>;
type Process = ReturnType<House['start']>;

async function make({ links }: Process) {
  const beginning = await links.begin(request);
  if (beginning.kind !== 'begun') throw new Error(`It is ${beginning.kind}.`);
  return await beginning.carryOn();
}

async function stateOf({ links }: Process) {
  return (await links.find(reference))?.state.kind;
}

describe('a payment link', () => {
  it('is asked for once by a dialogue that is submitted twice, and by no other under its reference', async () => {
    const house = openLinks();
    const process = house.start();
    const [one, two] = await Promise.all([process.links.begin(request), process.links.begin(request)]);
    expect([one.kind, two.kind].toSorted()).toEqual(['begun', 'known']);
    const other = await house.start().links.begin({ ...request, viewId: 'V2' });
    expect(other.kind).toBe('taken');
  });

  it('has one card, which is edited to Paid, and a note for whoever asked', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    await process.drain(5_000);
    expect(house.cards()).toHaveLength(1);
    house.service.lookups = [away, unproven, proven];
    for (let repeat = 0; repeat < 3; repeat += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one delivery after the other
      await process.links.trigger(paidEvent);
    }
    await process.drain(60_000);
    const link = await process.links.find(reference);
    expect(link?.state).toMatchObject({ kind: 'paid', money: { minor: 15_000 } });
    expect(link?.cardSaved).toEqual(paidEvent.cardSaved);
    expect(house.cards()).toHaveLength(1);
    expect(house.edits.at(-1)?.link.state.kind).toBe('paid');
    expect(house.edits.map(({ link: { state } }) => state.kind)).toContain('confirming');
    expect(house.notes()).toEqual(['paid']);
    await process.links.trigger(paidEvent);
    await process.drain(60_000);
    expect(house.notes()).toEqual(['paid']);
    expect(await process.links.openOf(agent)).toEqual([]);
  });

  it.each([
    ['the service’s order id alone', { ...paidEvent, orderReference: undefined }, 'paid'],
    ['another order', { ...paidEvent, orderReference: 'OTHER', orderId: 'other' }, 'open'],
    ['a saved-card charge', { ...paidEvent, isSavedCardCharge: true }, 'open'],
  ])('is told by an event of %s: %s', async (_what, { orderReference, ...event }, state) => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    house.service.lookups = [proven];
    await process.links.trigger(orderReference === undefined ? event : { ...event, orderReference });
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
    expect(house.edits.at(-1)?.link.failure).toBeDefined();
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

  it('says that no payment came only when the service says so, and is paid all the same later', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    await process.drain(2_000);
    house.clock.nowMs += followMs;
    house.service.lookups = [away, { kind: 'not_found' }];
    await process.drain(10_000);
    expect(await stateOf(process)).toBe('open');
    await process.drain(400_000);
    expect(await stateOf(process)).toBe('aged');
    expect(house.edits.at(-1)?.link.state.kind).toBe('aged');
    expect(house.notes()).toEqual([]);
    await process.links.trigger(paidEvent);
    house.service.lookups = [proven];
    await process.drain(5_000);
    expect(await stateOf(process)).toBe('paid');
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
    const { orderReference: _reference, ...byOrderId } = paidEvent;
    await process.links.trigger(byOrderId);
    await process.drain(10_000);
    expect(await stateOf(process)).toBe('paid');
    expect(house.cards()).toHaveLength(1);
  });

  it('finds a payment whose event never came before it says that none did', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    house.clock.nowMs += followMs;
    house.service.lookups = [proven];
    await process.drain(2_000);
    expect(await stateOf(process)).toBe('paid');
    expect(house.notes()).toEqual(['paid']);
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

  it('is looked up at once, and no more than that, when an unsigned reference names it', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    await process.drain(3_600_000);
    const { looked } = house.service;
    const { orderReference: _unsigned, orderId: _id, cardSaved: _card, ...bare } = paidEvent;
    const event = { ...bare, key: 'payment_success/transaction/1', referenceHint: reference };
    await process.links.trigger(event);
    await process.drain(1_000);
    expect(house.service.looked).toBe(looked + 1);
    expect(await stateOf(process)).toBe('open');
    house.service.lookups = [proven];
    await process.drain(3_000);
    expect(await stateOf(process)).toBe('paid');
  });

  it('is shared to a channel that the bot may post in, and both cards follow it', async () => {
    const house = openLinks();
    const process = house.start();
    await make(process);
    expect(await process.links.share(reference, 'C0CLOSED01')).toBe(false);
    expect(await process.links.share(reference, 'C0OTHER001')).toBe(true);
    await process.drain(5_000);
    expect(house.cards().map(({ channel }) => channel)).toEqual([desk, 'C0OTHER001']);
    house.service.lookups = [proven];
    await process.links.trigger(paidEvent);
    await process.drain(5_000);
    const paid = house.edits.filter(({ link }) => link.state.kind === 'paid').map(({ channel }) => channel);
    expect(new Set(paid)).toEqual(new Set([desk, 'C0OTHER001']));
    expect(house.notes()).toEqual(['paid']);
  });
});

describe('a payment link among replicas', () => {
  it('has one card and one note, whoever works at it', async () => {
    const house = openLinks();
    const [one, two] = [house.start(), house.start()];
    const [first, second] = await Promise.all([one.links.begin(request), two.links.begin(request)]);
    expect([first.kind, second.kind].toSorted()).toEqual(['begun', 'known']);
    const begun = [first, second].find(({ kind }) => kind === 'begun');
    if (begun?.kind === 'begun') await begun.carryOn();
    house.service.lookups = Array.from({ length: 9 }, () => proven);
    await Promise.all([one.links.trigger(paidEvent), two.links.trigger(paidEvent)]);
    await Promise.all([one.drain(10_000), two.drain(10_000)]);
    expect(house.service.asked).toEqual([reference]);
    expect(house.cards()).toHaveLength(1);
    expect(house.edits.at(-1)?.link.state.kind).toBe('paid');
    expect(house.notes()).toEqual(['paid']);
  });
});

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
    expect(await stateOf(process)).toBe('unanswered');
    expect(house.service.asked).toHaveLength(6);
    expect(house.cards()).toHaveLength(1);
  });

  it('is refused when the reference is another order’s, and may then be asked for anew', async () => {
    const house = openLinks();
    const process = house.start();
    house.service.made = [reference];
    const link = await make(process);
    expect(link.state.kind).toBe('refused');
    await process.drain(60_000);
    expect(house.cards()).toEqual([]);
    await process.links.trigger(paidEvent);
    expect(await stateOf(process)).toBe('refused');
    house.service.made = [];
    expect((await make(process)).state.kind).toBe('open');
  });

  it.each([
    ['an event of it', ({ links }: Process) => links.trigger(paidEvent)],
    ['somebody’s look', ({ links }: Process) => links.lookNow(reference)],
  ])('is refused when another order has the reference, whatever %s said of that one', async (_what, hear) => {
    const house = openLinks();
    const process = house.start();
    house.service.made = [reference];
    house.service.lookups = [proven, proven];
    const beginning = await process.links.begin(request);
    if (beginning.kind !== 'begun') throw new Error(`It is ${beginning.kind}.`);
    await hear(process);
    expect((await beginning.carryOn()).state.kind).toBe('refused');
    await process.drain(60_000);
    expect(await stateOf(process)).toBe('refused');
    expect(house.notes()).toEqual([]);
  });
});

describe('a payment link in a process that is killed', () => {
  it('at any call of the store ends paid or told, with one card and one note', async () => {
    let kills = 0;
    const ends: object[] = [];
    const askedForNothing: string[] = [];
    for (let calls = 1; ; calls += 1) {
      const house = openLinks();
      house.service.lookups = Array.from({ length: 50 }, () => proven);
      const dying = house.start(dyingStore(house.store, calls));
      // oxlint-disable-next-line no-await-in-loop -- one killed process after the other
      const isWhole = await live(dying).then(
        () => true,
        () => false,
      );
      if (isWhole) break;
      kills += 1;
      const next = house.start();
      // oxlint-disable-next-line no-await-in-loop
      await next.drain(180_000);
      // oxlint-disable-next-line no-await-in-loop -- the sender sends again
      await next.links.trigger(paidEvent);
      // oxlint-disable-next-line no-await-in-loop
      await next.drain(180_000);
      // oxlint-disable-next-line no-await-in-loop
      const state = await stateOf(next);
      if (state === undefined) {
        askedForNothing.push(...house.service.asked);
        continue;
      }
      const last = house.edits.at(-1)?.link ?? house.cards().at(-1)?.post;
      ends.push({
        calls,
        state,
        asked: [...new Set(house.service.asked)],
        cards: new Set(house.cards().map(({ post }) => 'key' in post && post.key)).size,
        notes: [...new Set(house.notes())],
        isShown: JSON.stringify(last).includes('"paid"'),
      });
    }
    const good = { state: 'paid', asked: [reference], cards: 1, notes: ['paid'], isShown: true };
    expect(ends).toEqual(ends.map((end) => ({ ...end, ...good })));
    expect(askedForNothing).toEqual([]);
    expect(kills).toBeGreaterThan(20);
  });
});

async function live(process: Process): Promise<void> {
  await make(process);
  await process.drain(3_000);
  await process.links.trigger(paidEvent);
  await process.drain(10_000);
}
