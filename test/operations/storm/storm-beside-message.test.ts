import { describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../src/domain/alert-route.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { cardsHouse, failed, linesOf, paidBy, recordOf, type CardsHouse } from '../cards-house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const channels = ['C0ALERTS01', 'C0LARGE001'] as const;
const customerOf = (number: number) => ({
  customerId: `cust-${number}`,
  customerEmail: `c${number}@example.com`,
});

function failure(number: number): PaymentEvent {
  const orderReference = `BURST-${number}`;
  return { ...failed, ...customerOf(number), key: `payment_failed/order/${orderReference}`, orderReference };
}

/** A storm in the first channel, whose digest tells what the second channel is told singly. */
async function stormBeside(): Promise<{ house: CardsHouse; storm: string }> {
  const house = cardsHouse(undefined, channels, undefined, 5);
  const [all, large] = channels;
  const rule: AlertRule = { name: 'large', match: {}, channels: [large], goesOn: true, digestAfter: 0 };
  house.deliver.route = () => [{ channel: all }, { channel: large, rule }];
  for (let number = 1; number <= 8; number += 1) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await house.receive(failure(number));
  }
  await house.drain(60_000);
  const state = await house.storms.channel(all, 'payment_failed');
  if (!state.storm) throw new Error('there is no storm');
  return { house, storm: state.storm.id };
}

async function paid(house: CardsHouse, number: number): Promise<void> {
  const reference = `BURST-${number}`;
  house.records.set(reference, recordOf(reference, 'SUCCESS'));
  await house.receive(paidBy(reference, customerOf(number)));
  await house.drain(60_000);
}

describe('a payment for what a digest tells in one channel and a message in another', () => {
  it('is told with its reference to whoever acknowledged that message, and never as a storm of theirs', async () => {
    const { house } = await stormBeside();
    await house.cards.move(failure(8).key, { kind: 'acknowledge', by: ada });
    await house.drain();
    await paid(house, 8);
    const [direct, ...others] = house.directs();
    expect(others).toEqual([]);
    expect(direct?.channel).toBe(ada);
    expect(direct?.shown.text).toMatch(/^✅ Resolved · Paid \(confirmed\) · .* · BURST-8$/);
    expect(direct && linesOf(direct)).toContain('Resolved');
  });

  it('is told to both who took the storm on and who had acknowledged the message before', async () => {
    const { house, storm } = await stormBeside();
    await house.cards.move(failure(8).key, { kind: 'acknowledge', by: ada });
    await house.takeStorm.acknowledge(storm, bola);
    await house.drain(20_000);
    await paid(house, 8);
    const told = house.directs().map(({ channel, shown }) => [channel, shown.text.split(' · ').at(-1)]);
    expect(Object.fromEntries(told)).toEqual({ [ada]: 'BURST-8', [bola]: 'the storm you acknowledged' });
    expect(told).toHaveLength(2);
  });
});

it('shows on a message in another channel that the storm was acknowledged', async () => {
  const { house, storm } = await stormBeside();
  await house.takeStorm.acknowledge(storm, ada);
  await house.drain(60_000);
  const beside = house.parents().filter((message) => message.channel === channels[1]);
  expect(beside).toHaveLength(8);
  for (const { shown } of beside) expect(shown.text).toMatch(/^👀 Acknowledged/);
});
