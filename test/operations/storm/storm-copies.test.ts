import { expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { cardsHouse, failed, linesOf, recordOf } from '../cards-house.ts';

const [quick, stormy] = ['C0QUICK001', 'C0STORMY01'];
const key = 'payment_failed/order/ORDER-1';

it('counts as made good what was paid when it was told in another channel and waited here for its storm', async () => {
  const house = cardsHouse(undefined, [quick, stormy], undefined, 2);
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  // The storm is on here alone: the other channel has had none of it.
  const route = ({ orderReference = '' }: PaymentEvent) =>
    (orderReference === 'ORDER-1' ? [quick, stormy] : [stormy]).map((channel) => ({ channel }));
  house.deliver.route = route;
  house.receiving.route = route;
  for (const reference of ['ORDER-7', 'ORDER-8', 'ORDER-9', 'ORDER-1']) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await house.receive({ ...failed, key: `payment_failed/order/${reference}`, orderReference: reference });
  }
  let isPaid = false;
  house.deliver.storms = {
    ...house.storms,
    async ask(to, name, gathers) {
      const isLast = to.channel === stormy && name.endsWith('ORDER-1');
      if (isLast && !isPaid) {
        isPaid = true;
        const money = { minor: 1_250_000, currency: 'NGN' };
        const payment = { reference: 'ORDER-1', isSameReference: true, money, afterMs: 1_000 };
        await house.cards.move(key, { kind: 'recover', payment });
        // Told to all that the card has by now, by the other loop of the worker.
        await house.drain(0);
      }
      return await house.storms.ask(to, name, gathers);
    },
  };
  await house.drain(60_000);
  expect(
    house
      .parents()
      .map(({ channel }) => channel)
      .filter((channel) => channel === quick),
  ).toHaveLength(1);
  const digest = house.parents().find(({ shown }) => /Storm/.test(shown.text));
  expect(digest && linesOf(digest)).toContain('1 by payment');
});

it('counts as made good what was paid when a crash had stored its copies alone, and its sender came again', async () => {
  const channels = [stormy, quick];
  const house = cardsHouse(undefined, channels, undefined, 2);
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receiveAndDie(failed).catch(() => undefined);
  await house.drain();
  const money = { minor: 1_250_000, currency: 'NGN' };
  const payment = { reference: 'ORDER-1', isSameReference: true, money, afterMs: 1_000 };
  await house.cards.move(key, { kind: 'recover', payment });
  await house.drain();
  channels.splice(0, 2, stormy);
  for (const reference of ['ORDER-7', 'ORDER-8', 'ORDER-9', 'ORDER-1']) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await house.receive({ ...failed, key: `payment_failed/order/${reference}`, orderReference: reference });
  }
  await house.drain(60_000);
  const digest = house.parents().find(({ shown }) => /Storm: 4 /.test(shown.text));
  expect(digest && linesOf(digest)).toContain('1 by payment');
});

it('does not count what its channel was told as a message, when a crash had stored its copies alone', async () => {
  const channels = [quick, stormy];
  const house = cardsHouse(undefined, channels, undefined, 2);
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receiveAndDie(failed).catch(() => undefined);
  await house.drain();
  channels.splice(0, 2, stormy);
  for (const reference of ['ORDER-7', 'ORDER-8', 'ORDER-9', 'ORDER-1']) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await house.receive({ ...failed, key: `payment_failed/order/${reference}`, orderReference: reference });
  }
  await house.drain(60_000);
  const shown = house.parents().map(({ channel, shown: { text } }) => `${channel} ${text}`);
  expect(shown.filter((text) => text.includes('ORDER-1'))).toHaveLength(1);
  expect(shown.filter((text) => /Storm/.test(text))).toEqual([expect.stringContaining('Storm: 4 ')]);
});
