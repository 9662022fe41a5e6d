import { describe, expect, it } from 'vitest';
import { ServiceFailure, type FailureKind } from '../../../src/domain/failure.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import { lookUpEvent, withCircuitBreaker } from '../../../src/features/alerts/look-up-event.ts';

const event: PaymentEvent = { kind: 'payment_failed', key: 'k', orderReference: 'SUB-1' };
const record: Transaction = {
  id: 'T-1',
  status: 'SUCCESS',
  orderReference: 'SUB-1',
  amountMinor: 500,
  currency: 'NGN',
  orderAmountMinor: 500,
  orderCurrency: 'NGN',
};
const found = () => Promise.resolve(record);
const byId = (id: string) => Promise.resolve(id === 'T-1' ? record : undefined);
const none = () => Promise.resolve(undefined);
const away = (kind: FailureKind = 'network') => Promise.reject(new ServiceFailure(kind, 'away'));
const never = () => Promise.reject(new Error('asked'));

describe('lookUpEvent', () => {
  it('compares the event’s amount with the record’s', async () => {
    expect(await lookUpEvent(found, { ...event, amountMinor: 500, currency: 'NGN' })).toMatchObject({
      kind: 'confirmed',
    });
    expect(await lookUpEvent(found, { ...event, amountMinor: 400 })).toMatchObject({
      kind: 'not_confirmed',
      evidence: { amount: { statement: 'Amount NGN 5.00 differs from the event’s amount, NGN 4.00' } },
    });
  });

  it('returns unchecked if the service gives no answer', async () => {
    expect(await lookUpEvent(() => away(), event)).toEqual({ kind: 'unchecked', failure: 'network' });
  });

  it('throws on a bug', async () => {
    await expect(lookUpEvent(() => Promise.reject(new TypeError('bug')), event)).rejects.toThrow('bug');
  });

  it.each([undefined, '', 'x'.repeat(51)])(
    'looks nothing up for the reference %j',
    async (orderReference) => {
      const { orderReference: _replaced, ...rest } = event;
      const without = orderReference === undefined ? rest : { ...rest, orderReference };
      expect(await lookUpEvent(never, without)).toEqual({ kind: 'no_reference' });
    },
  );

  it('trusts an unsigned reference only if its record has the signed transaction id', async () => {
    const unsigned: PaymentEvent = { kind: 'payment_failed', key: 'k', referenceHint: 'SUB-1' };
    expect(await lookUpEvent(found, { ...unsigned, transactionId: 'T-1' })).toMatchObject({
      kind: 'confirmed',
    });
    const nothing = { kind: 'no_reference' };
    expect(await lookUpEvent(found, { ...unsigned, transactionId: 'T-2' })).toEqual(nothing);
    expect(await lookUpEvent(found, unsigned)).toEqual(nothing);
    expect(await lookUpEvent(none, { ...unsigned, transactionId: 'T-1' })).toEqual(nothing);
  });

  it('looks up by the signed transaction id if the settings say how, and accepts no other record', async () => {
    const unsigned: PaymentEvent = { kind: 'payment_failed', key: 'k', transactionId: 'T-1' };
    expect(await lookUpEvent(never, unsigned, byId)).toMatchObject({ kind: 'confirmed' });
    const hinted = { ...unsigned, referenceHint: 'OTHER' };
    expect(await lookUpEvent(never, hinted, byId)).toMatchObject({
      kind: 'confirmed',
      transaction: { orderReference: 'SUB-1' },
    });
    expect(await lookUpEvent(never, unsigned, none)).toEqual({ kind: 'not_found' });
    const nothing = { kind: 'no_reference' };
    expect(await lookUpEvent(never, { ...unsigned, transactionId: 'T-2' }, found)).toEqual(nothing);
    // A signed reference is preferred.
    expect(await lookUpEvent(found, { ...event, transactionId: 'T-1' }, never)).toMatchObject({
      kind: 'confirmed',
    });
  });
});

function service(tookMs: number, answers: boolean[]) {
  const clock = { nowMs: 0 };
  const asked: number[] = [];
  const findTransaction = () => {
    asked.push(clock.nowMs);
    clock.nowMs += tookMs;
    return answers.shift() ? found() : away('timeout');
  };
  const lookUp = withCircuitBreaker(
    () => clock.nowMs,
    (about: PaymentEvent) => lookUpEvent(findTransaction, about),
  );
  return { clock, asked, lookUp };
}

describe('a look-up of events', () => {
  it('makes a burst wait only once while the service hangs', async () => {
    const { clock, asked, lookUp } = service(8_000, []);
    for (let n = 0; n < 30; n += 1) {
      expect(await lookUp(event)).toEqual({ kind: 'unchecked', failure: 'timeout', sinceMs: 0 });
    }
    expect(asked).toEqual([0]);
    expect(clock.nowMs).toBe(8_000);
  });

  it('tries again after three times the failure’s duration, then works as usual', async () => {
    const { clock, asked, lookUp } = service(8_000, [false, true, true]);
    await lookUp(event);
    clock.nowMs = 8_000 + 24_000;
    expect(await lookUp(event)).toMatchObject({ kind: 'confirmed' });
    expect(await lookUp(event)).toMatchObject({ kind: 'confirmed' });
    expect(asked).toHaveLength(3);
  });

  it('tries again at once if the clock was put back', async () => {
    const { clock, lookUp } = service(8_000, [false, true]);
    clock.nowMs = 7_200_000;
    await lookUp(event);
    clock.nowMs = 0;
    expect(await lookUp(event)).toMatchObject({ kind: 'confirmed' });
  });
});
