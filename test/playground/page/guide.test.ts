import { describe, expect, it } from 'vitest';
import { guideSteps } from '../../../src/playground/page/guide.ts';
import type { PaymentsDelivery, PaymentsOrder } from '../../../src/simulators/protocol.ts';
import { emptyState, message } from './canned.ts';

const charge: PaymentsOrder = {
  orderReference: 'pay-abcdefghijklmnopqrstuvwxyz',
  orderId: 'o9',
  amount: '12500.00',
  currency: 'NGN',
  customerEmail: 'bola@example.com',
  state: 'paid',
  isSavedCardCharge: true,
  at: 1,
};

const known: PaymentsDelivery = {
  id: 1,
  event: 'payment_success',
  orderReference: 'CARD-4081',
  attempts: 1,
  lastStatus: 200,
  state: 'delivered',
};

/** The numbers of the steps that are ticked off. */
function done(change: Partial<ReturnType<typeof emptyState>> = {}): number[] {
  const steps = guideSteps({ page: { ...emptyState(), ...change } });
  return steps.flatMap((step, index) => (step.done ? [index + 1] : []));
}

const { payments } = emptyState();

describe('the guide', () => {
  it('ticks off nothing that the playground does by itself at its start', () => {
    expect(done({ payments: { ...payments, deliveries: [known, { ...known, id: 2 }] } })).toEqual([]);
  });

  it('ticks off a charge from Slack when it is paid, and none of the merchant’s own', () => {
    const own = { ...charge, orderReference: 'SUB-3001' };
    const waiting: PaymentsOrder = { ...charge, state: 'awaiting_otp' };
    expect(done({ payments: { ...payments, orders: [own, waiting] } })).toEqual([]);
    expect(done({ payments: { ...payments, orders: [charge] } })).toEqual([3]);
  });

  it('ticks off the alert by what stands in #pay-alerts, not by what is told at the desk', () => {
    expect(done({ messages: { C1: [message('1.1')] } })).toEqual([]);
    expect(done({ messages: { C2: [message('1.1')] } })).toEqual([4]);
  });

  it('ticks off the repeats when one was taken and one with a bad signature refused', () => {
    const again: PaymentsDelivery = { ...known, id: 2, how: 'again' };
    const forged: PaymentsDelivery = {
      ...known,
      id: 3,
      how: 'bad_signature',
      state: 'gave_up',
      lastStatus: 401,
    };
    expect(done({ payments: { ...payments, deliveries: [known, forged] } })).toEqual([]);
    expect(done({ payments: { ...payments, deliveries: [known, again, forged] } })).toEqual([5]);
  });
});
