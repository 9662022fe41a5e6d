import { describe, expect, it } from 'vitest';
import { loggedEvent } from '../../src/features/alerts/event-log.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';

const huge = 'x'.repeat(200_000);

const event: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed/order/SUB-1',
  orderReference: `SUB-1${huge}`,
  customerId: `cust-1${huge}`,
  customerEmail: `${huge}@example.com`,
  amountMinor: 5_000,
  currency: 'NGN',
  reason: `Insufficient funds${huge}`,
};

describe('an event in a list of many', () => {
  it('takes two kilobytes at most, whatever its texts are, so that fifty of them stay a small record', () => {
    expect(JSON.stringify(loggedEvent(event, 1)).length).toBeLessThan(2_048);
  });

  it('keeps their beginnings, and no part of what is too long to be an address', () => {
    expect(loggedEvent(event, 1).reason).toMatch(/^Insufficient fundsx+…$/);
    expect(loggedEvent(event, 1).emailDomain).toBeUndefined();
  });

  it('keeps what is as long as such texts are', () => {
    const usual = { ...event, orderReference: 'SUB-1', customerId: 'cust-1', customerEmail: 'a@example.com' };
    const reason = 'Insufficient funds '.repeat(20).trim();
    expect(loggedEvent({ ...usual, reason }, 1)).toMatchObject({
      orderReference: 'SUB-1',
      customerId: 'cust-1',
      emailDomain: 'example.com',
      reason,
    });
  });
});
