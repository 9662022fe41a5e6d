import { expect, it } from 'vitest';
import { cardsHouse, paidBy, recordOf } from '../cards-house.ts';

const [one, other] = ['C0ALERTS01', 'C0PAID0001'];
const threshold = 4;

/** Payments whose look-up alone says by which rule they are told. */
async function paid(house: ReturnType<typeof cardsHouse>, count: number): Promise<void> {
  house.receiving.needsLookUp = ({ kind }) => kind === 'payment_success';
  house.deliver.needsLookUp = house.receiving.needsLookUp;
  for (let number = 1; number <= count; number += 1) {
    const reference = `PAID-${number}`;
    house.records.set(reference, recordOf(reference, 'SUCCESS'));
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await house.receive(paidBy(reference));
  }
  await house.drain(60_000);
}

it('tells many payments that their look-up routes by the digest of each channel', async () => {
  const house = cardsHouse(undefined, [], undefined, threshold);
  house.paidTo.push({ channel: one }, { channel: other });
  await paid(house, threshold + 2);
  for (const channel of [one, other]) {
    const told = house.parents().filter((message) => message.channel === channel);
    const digests = told.filter(({ shown }) => /Many payments: 6 /.test(shown.text));
    expect([told.length <= threshold + 1, digests.length]).toEqual([true, 1]);
  }
});

it('has nobody told, and nothing stuck, when the look-up of many payments sends them nowhere', async () => {
  const house = cardsHouse(undefined, [], undefined, threshold);
  await paid(house, threshold + 2);
  house.clock.nowMs += 86_400_000;
  expect(await house.store.take(1_000)).toEqual([]);
  expect(house.messages).toEqual([]);
});
