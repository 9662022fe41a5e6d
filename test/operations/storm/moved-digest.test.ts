import { describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/domain/alert-route.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { createDeadLetters } from '../../../src/operations/outbox/dead-letters.ts';
import type { Notice } from '../../../src/domain/notice.ts';
import { cardsHouse, failed, linesOf, paidBy, recordOf, type CardsHouse } from '../cards-house.ts';
import { drainKilled } from '../killed-house.ts';

const [dead, other, third, fallback] = ['C0DEAD0001', 'C0OTHER001', 'C0THIRD001', 'C0ALERTS01'];
const hourMs = 3_600_000;
const threshold = 3;
const count = 10;
const gathered = count - threshold;

function failure(number: number, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const reference = `BURST-${number}`;
  return {
    ...failed,
    key: `payment_failed/order/${reference}`,
    orderReference: reference,
    customerId: `cust-${number}`,
    customerEmail: `c${number}@example.com`,
    ...more,
  };
}

/** A channel that takes messages until it is archived, and rules that may be set anew. */
function opened(channels: string[] = [dead]) {
  const house = cardsHouse(undefined, channels, undefined, threshold);
  const refused = new Set<string>();
  const notices: Extract<Notice, { kind: 'refused' }>[] = [];
  const { compose } = house.deliver;
  const answer = {
    kind: 'refused',
    slackError: 'is_archived',
    fix: 'Set another.',
    about: 'channel',
  } as const;
  Object.assign(house.deliver, {
    giveUpMs: hourMs,
    compose: (post: Parameters<typeof compose>[0]): ReturnType<typeof compose> => {
      const made = compose(post);
      if (post.kind === 'notice' && post.notice.kind === 'refused') notices.push(post.notice);
      return {
        ...made,
        post: (to, threadTs) => (refused.has(to) ? Promise.resolve(answer) : made.post(to, threadTs)),
        edit: (to, ts) => (refused.has(to) ? Promise.resolve(answer) : made.edit(to, ts)),
      };
    },
  });
  const letters = createDeadLetters({ store: house.store, now: () => house.clock.nowMs });
  return {
    ...house,
    refused,
    notices,
    letters,
    archive: (channel: string) => void refused.add(channel),
    /** The rules of the moment, as after a restart with another payops.yml. */
    sendTo: (...to: string[]) => void channels.splice(0, channels.length, ...to),
    sendBy: (route: (event: PaymentEvent) => readonly Destination[]) =>
      void Object.assign(house.deliver, { route }),
  };
}

type Opened = ReturnType<typeof opened>;

async function burst(house: Pick<CardsHouse, 'receive'>, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    // oxlint-disable-next-line no-await-in-loop
    await house.receive(failure(number));
  }
}

function digestsIn(house: Opened, channel: string): CardsHouse['messages'] {
  return house.parents().filter((one) => one.channel === channel && /Storm/.test(one.shown.text));
}

/** A storm whose digest Slack never took, given up. */
async function buried(channels?: string[]): Promise<Opened> {
  const house = opened(channels);
  await burst(house, 1, threshold);
  await house.drain(10_000);
  house.archive(dead);
  await burst(house, threshold + 1, count);
  await house.drain(hourMs + 700_000);
  expect(await house.letters.all()).toMatchObject([{ channel: dead, messages: 1 }]);
  expect(digestsIn(house, dead)).toEqual([]);
  return house;
}

describe('a storm’s digest that was given up, delivered again once the rules send its alerts elsewhere', () => {
  it('stands there, whole, once, and is edited there from then on', async () => {
    const house = await buried();
    house.sendTo(other);
    await house.letters.redrive(dead);
    await house.drain(60_000);
    const [digest] = digestsIn(house, other);
    expect(digest?.shown.text).toBe(`☑️ Storm over: ${gathered} failed charges · NGN 87,500.00`);
    expect(await house.letters.all()).toEqual([]);

    house.records.set('BURST-9', recordOf('BURST-9', 'SUCCESS'));
    await house.receive(paidBy('BURST-9', { customerId: 'cust-9', customerEmail: 'c9@example.com' }));
    await house.drain(60_000);
    expect(digestsIn(house, other)).toHaveLength(1);
    expect(digest && linesOf(digest)).toContain('1 made good by a later payment');
    const place = digest && { channel: other, ts: digest.ts };
    expect(await house.storms.place(await stormOf(house))).toEqual(place);
  });

  it('stays its channel’s while the rules send one of its alerts there', async () => {
    const house = await buried();
    house.sendBy(({ orderReference }) => [{ channel: orderReference === 'BURST-10' ? dead : other }]);
    house.refused.clear();
    await house.letters.redrive();
    await house.drain(60_000);
    expect([digestsIn(house, dead).length, digestsIn(house, other).length]).toEqual([1, 0]);
  });

  it('goes where what no rule takes is told when the rules send its alerts to several channels', async () => {
    const house = await buried();
    house.sendBy(({ orderReference }) => [{ channel: orderReference === 'BURST-10' ? third : other }]);
    await house.letters.redrive();
    await house.drain(60_000);
    expect(house.parents().filter(({ shown }) => /Storm/.test(shown.text))).toMatchObject([
      { channel: fallback },
    ]);
  });

  it('goes where most of them are told when that is the channel it was refused in', async () => {
    const house = await buried();
    Object.assign(house.deliver, { rest: { failures: dead, successes: undefined } });
    house.sendBy(({ orderReference }) => [{ channel: orderReference === 'BURST-4' ? third : other }]);
    await house.letters.redrive();
    await house.drain(60_000);
    expect(digestsIn(house, other)).toHaveLength(1);
  });

  it('goes to one channel alone when the rules send all of its alerts to the same two', async () => {
    const house = await buried();
    house.sendTo(other, third);
    await house.letters.redrive();
    await house.drain(60_000);
    expect([digestsIn(house, other).length, digestsIn(house, third).length]).toEqual([1, 0]);
  });

  it('is done with where all of its alerts were told there already', async () => {
    const house = await buried([dead, other]);
    expect(digestsIn(house, other)).toHaveLength(1);
    house.sendTo(other);
    await house.letters.redrive();
    await house.drain(2 * hourMs);
    expect(digestsIn(house, other)).toHaveLength(1);
    expect(await house.letters.all()).toEqual([]);
  });

  it('goes where payments that no rule takes are told, when it counts payments', async () => {
    const house = opened();
    house.paidTo.push({ channel: dead });
    const pay = async (from: number, to: number): Promise<void> => {
      for (let number = from; number <= to; number += 1) {
        house.records.set(`PAID-${number}`, recordOf(`PAID-${number}`, 'SUCCESS'));
        // oxlint-disable-next-line no-await-in-loop
        await house.receive(paidBy(`PAID-${number}`));
      }
    };
    await pay(1, threshold);
    await house.drain(10_000);
    house.archive(dead);
    await pay(threshold + 1, count);
    await house.drain(hourMs + 700_000);
    Object.assign(house.deliver, { rest: { failures: fallback, successes: 'C0PAID0001' } });
    house.sendBy(({ orderReference }) => [{ channel: orderReference === 'PAID-10' ? third : other }]);
    await house.letters.redrive(dead);
    await house.drain(60_000);
    expect(house.parents().filter(({ shown }) => /Many payments/.test(shown.text))).toMatchObject([
      { channel: 'C0PAID0001', shown: { text: expect.stringContaining(`ended: ${gathered} ·`) } },
    ]);
  });

  it('waits in its channel’s list again when the rules name no other', async () => {
    const house = await buried();
    await house.letters.redrive();
    await house.drain(2 * hourMs);
    expect(await house.letters.all()).toMatchObject([{ channel: dead, messages: 1 }]);
  });
});

it('that stands in its channel is brought up to date there, though its alerts are all told elsewhere as well', async () => {
  const house = opened([dead, other]);
  await burst(house, 1, count);
  await house.drain(20_000);
  house.archive(dead);
  await burst(house, count + 1, count + 2);
  await house.drain(2 * hourMs);
  expect(await house.letters.all()).toMatchObject([{ channel: dead }]);
  house.sendTo(other);
  house.refused.clear();
  await house.letters.redrive();
  await house.drain(60_000);
  expect(digestsIn(house, dead).map(({ shown }) => shown.text)).toEqual([
    expect.stringContaining(`Storm over: ${gathered + 2} failed charges`),
  ]);
  expect(await house.letters.all()).toEqual([]);
});

/** Its digest stands, and then takes no more edits. */
async function refusedLive(): Promise<Opened> {
  const house = opened();
  await burst(house, 1, count);
  await house.drain(20_000);
  expect(digestsIn(house, dead)).toHaveLength(1);
  house.archive(dead);
  await burst(house, count + 1, 2 * count);
  return house;
}

describe('a storm that goes on while Slack refuses its channel', () => {
  it('counts what comes, and the operators learn how much nobody sees', async () => {
    const house = await refusedLive();
    for (let minute = 0; minute < 9; minute += 3) {
      // oxlint-disable-next-line no-await-in-loop -- so many that the storm goes on
      await burst(house, 100 + 3 * minute, 108 + 3 * minute);
      // oxlint-disable-next-line no-await-in-loop
      await house.drain(180_000);
    }
    const storm = await stormOf(house);
    const seen = await house.storms.see(storm);
    expect(seen?.count).toBeGreaterThan(2 * count);
    expect(house.notices).toMatchObject([{ channel: dead }]);
    expect(house.notices[0]?.gathered).toBeGreaterThan(2 * count - threshold);
  });

  it('is posted anew where its alerts go once the rules say so, before anything is given up', async () => {
    const house = await refusedLive();
    await house.drain(30_000);
    house.sendTo(other);
    await house.drain(900_000);
    const all = 2 * count - threshold;
    expect(digestsIn(house, other)).toMatchObject([
      { shown: { text: `☑️ Storm over: ${all} failed charges · NGN 212,500.00` } },
    ]);
    expect(await house.letters.all()).toEqual([]);
    // The one that nobody can edit stays as it was.
    expect(digestsIn(house, dead)[0]?.shown.text).toContain(`Storm: ${gathered} failed charges`);
  });

  it('is edited where it stands when the rules and Slack go back before it was posted anew', async () => {
    const house = await refusedLive();
    await house.drain(30_000);
    house.archive(other);
    house.sendTo(other);
    await house.drain(700_000);
    expect(await house.letters.all()).toEqual([]);
    house.refused.clear();
    house.sendTo(dead);
    await house.drain(900_000);
    expect(digestsIn(house, dead)).toMatchObject([
      { shown: { text: `☑️ Storm over: ${2 * count - threshold} failed charges · NGN 212,500.00` } },
    ]);
    expect(digestsIn(house, other)).toEqual([]);
  });

  it('is given up, once, when the channel that its alerts go to now refuses it too', async () => {
    const house = await refusedLive();
    await house.drain(30_000);
    house.archive(other);
    house.sendTo(other);
    await house.drain(3 * hourMs);
    expect(await house.letters.all()).toMatchObject([{ channel: other, messages: 1 }]);
    house.refused.delete(other);
    await house.letters.redrive(other);
    await house.drain(60_000);
    expect(digestsIn(house, other)).toHaveLength(1);
    expect(await house.letters.all()).toEqual([]);
  });

  it('stays where it stands when the rules change and Slack takes its edits', async () => {
    const house = opened();
    await burst(house, 1, count);
    await house.drain(20_000);
    house.sendTo(other);
    await house.drain(600_000);
    expect(digestsIn(house, dead)[0]?.shown.text).toContain('Storm over');
    expect(digestsIn(house, other)).toEqual([]);
  });
});

/** The point at which the digest stands in its new channel, which a kill before that never lets it reach. */
async function moveKilled(house: Opened, killAt: number): Promise<number> {
  let standsAt = Infinity;
  await drainKilled(house, killAt, 120_000, (passed) => {
    if (digestsIn(house, other).length > 0) standsAt = Math.min(standsAt, passed);
  });
  return standsAt;
}

describe('a digest that is posted anew and killed at every await of that', () => {
  it('stands once in its new channel, and says the whole', async () => {
    const standsAt = await moveKilled(await movable(), Infinity);
    expect(standsAt).toBeLessThan(10_000);
    const wrong: string[] = [];
    for (let killAt = standsAt - 25; killAt <= standsAt + 15; killAt += 1) {
      // oxlint-disable-next-line no-await-in-loop
      const house = await movable();
      // oxlint-disable-next-line no-await-in-loop
      await moveKilled(house, killAt);
      house.clock.nowMs += house.deliver.leaseMs;
      // oxlint-disable-next-line no-await-in-loop
      await house.drain(900_000);
      const texts = digestsIn(house, other).map(({ shown }) => shown.text);
      const isRight =
        texts.join() === `☑️ Storm over: ${2 * count - threshold} failed charges · NGN 212,500.00`;
      if (!isRight) wrong.push(`killed at ${killAt} of ${standsAt}: ${texts.join(' and ')}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** A storm that goes on, whose digest takes no edits, and rules that send its alerts elsewhere since. */
async function movable(): Promise<Opened> {
  const house = await refusedLive();
  await house.drain(30_000);
  house.sendTo(other);
  return house;
}

async function stormOf(house: Opened): Promise<string> {
  const { storm, ended } = await house.storms.channel(dead, 'payment_failed');
  return storm?.id ?? ended?.id ?? '';
}
