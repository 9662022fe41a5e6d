import { describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../src/domain/alert-route.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { cardsHouse, linesOf, paidBy, recordOf, type CardsHouse } from '../cards-house.ts';

const channel = 'C0ALERTS01';
const threshold = 5;

function referenceOf(number: number): string {
  return `PAID-${number}`;
}

function payment(number: number, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const customer = { customerId: `payer-${number}`, customerEmail: `p${number}@example.com` };
  return paidBy(referenceOf(number), { ...customer, ...more });
}

/** Payments are told where failures are. */
function opened(rule?: AlertRule): CardsHouse {
  const house = cardsHouse(undefined, [channel], undefined, threshold);
  house.paidTo.push({ channel, ...(rule ? { rule } : {}) });
  return house;
}

/** The service knows them all as paid. */
async function pay(house: CardsHouse, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    house.records.set(referenceOf(number), recordOf(referenceOf(number), 'SUCCESS'));
    // oxlint-disable-next-line no-await-in-loop
    await house.receive(payment(number));
  }
}

function digests(house: CardsHouse, words: RegExp): CardsHouse['messages'] {
  return house.parents().filter(({ shown }) => words.test(shown.text));
}

const ofPayments = /Many payments/;

describe('many payments that a channel is told', () => {
  it('do not hide the one that its look-up does not confirm', async () => {
    const house = opened();
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

  it('do not hide the one whose card could not be kept', async () => {
    const house = opened();
    await pay(house, 1, 10);
    house.records.set(referenceOf(11), recordOf(referenceOf(11), 'SUCCESS'));
    await house.receive(payment(11, { cardSaved: { kind: 'no_token' } }));
    await house.receive(payment(12, { cardSaved: { kind: 'kept', face: {} } }));
    house.records.set(referenceOf(12), recordOf(referenceOf(12), 'SUCCESS'));
    await house.drain(30_000);
    expect(house.parents()).toHaveLength(2);
    const [digest] = digests(house, ofPayments);
    expect(digest?.shown.text).toContain('Many payments: 11 ·');
    expect(digest && linesOf(digest)).toMatch(/Cards saved\s*1/);
  });
});
