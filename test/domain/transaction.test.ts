import { describe, expect, it } from 'vitest';
import { confirm, type ExpectedCharge, type Transaction } from '../../src/domain/transaction.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';

const reference = 'ORDER-1' as OrderReference;
const paid: Transaction = {
  status: 'SUCCESS',
  amountMinor: 500_000,
  currency: 'NGN',
  orderReference: 'ORDER-1',
  orderAmountMinor: 500_000,
  orderCurrency: 'NGN',
};
const charged: ExpectedCharge = { reference, amount: { minor: 500_000, currency: 'NGN', source: 'charge' } };

describe('confirm', () => {
  it('confirms if status, reference and amount all hold', () => {
    const verdict = confirm(charged, paid);
    expect(verdict).toMatchObject({ kind: 'confirmed', money: { minor: 500_000, currency: 'NGN' } });
  });

  it('compares the order’s own amount with the one taken if no amount is given', () => {
    expect(confirm({ reference }, paid).kind).toBe('confirmed');
    expect(confirm({ reference }, { ...paid, amountMinor: 499_900 })).toMatchObject({
      kind: 'not_confirmed',
      evidence: {
        amount: {
          holds: false,
          statement: 'Amount NGN 4,999.00 differs from the order’s amount, NGN 5,000.00',
        },
      },
    });
  });

  it.each<[Partial<Transaction>, string]>([
    [{ unreadAmount: '5.000,00' }, 'The record’s amount can’t be read: it says “5.000,00”'],
    [{}, 'The record has no amount'],
    [{ amountMinor: 500_000 }, 'The record has an amount without a currency'],
  ])('says why the amount of a record with %j doesn’t hold', (told, statement) => {
    const { amountMinor: _amount, currency: _currency, orderCurrency: _ordered, ...bare } = paid;
    expect(confirm(charged, { ...bare, ...told })).toMatchObject({
      kind: 'not_confirmed',
      evidence: { amount: { holds: false, statement } },
    });
  });

  it.each([
    ['a status that is not SUCCESS', { ...paid, status: 'PENDING' }, 'status'],
    ['a status in another case', { ...paid, status: 'success' }, 'status'],
    ['a reference that differs', { ...paid, orderReference: 'ORDER-2' }, 'reference'],
    ['a charge whose amount differs', { ...paid, amountMinor: 500_001 }, 'amount'],
    ['another currency', { ...paid, currency: 'USD' }, 'amount'],
  ] as const)('refuses %s', (_what, transaction, part) => {
    const verdict = confirm(charged, transaction);
    expect(verdict.kind).toBe('not_confirmed');
    if (verdict.kind !== 'not_confirmed') return;
    const failing = Object.values(verdict.evidence).filter((check) => !check.holds);
    expect(failing.map((check) => check.part)).toEqual([part]);
  });

  it.each(['status', 'orderReference', 'amountMinor'] as const)('refuses a record without %s', (field) => {
    const { [field]: _gone, ...rest } = paid;
    expect(confirm(charged, rest).kind).toBe('not_confirmed');
  });

  it('refuses an amount that it can compare with nothing', () => {
    const { orderAmountMinor: _gone, ...rest } = paid;
    expect(confirm({ reference }, rest).kind).toBe('not_confirmed');
  });

  it.each([
    ['a person gives what the record shows', { minor: 500, source: 'person' }],
    ['an event tells what was taken', { minor: 500, currency: 'NGN', source: 'event' }],
    ['the bot charged that much', { minor: 500, currency: 'NGN', source: 'charge' }],
  ] as const)('refuses less than the order’s own amount, though %s', (_who, amount) => {
    const short = { ...paid, amountMinor: 500, orderAmountMinor: 900 };
    expect(confirm({ reference, amount }, short)).toMatchObject({
      kind: 'not_confirmed',
      evidence: {
        amount: {
          holds: false,
          statement: 'Amount NGN 5.00 differs from the order’s amount, NGN 9.00',
        },
      },
    });
  });

  it.each([
    undefined,
    { minor: 500_000, source: 'person' },
    { minor: 500_000, currency: 'USD', source: 'event' },
  ] as const)('refuses another currency than the order’s with the amount %j', (amount) => {
    const { orderAmountMinor: _gone, ...noOrderAmount } = { ...paid, currency: 'USD' };
    for (const record of [{ ...paid, currency: 'USD' }, noOrderAmount]) {
      expect(confirm(amount ? { reference, amount } : { reference }, record)).toMatchObject({
        kind: 'not_confirmed',
        evidence: {
          amount: {
            holds: false,
            statement: 'Amount USD 5,000.00 is not in the order’s currency, NGN',
          },
        },
      });
    }
  });

  it('names the sources whose amount equals the record’s, or those whose amount differs', () => {
    const amount = { minor: 500_000, source: 'person' } as const;
    expect(confirm({ reference, amount }, paid)).toMatchObject({
      kind: 'confirmed',
      evidence: {
        amount: { statement: 'Amount NGN 5,000.00 equals the amount you gave and the order’s amount' },
      },
    });
    const event = { minor: 400_000, currency: 'USD', source: 'event' } as const;
    expect(confirm({ reference, amount: event }, { ...paid, orderAmountMinor: 1 })).toMatchObject({
      evidence: {
        amount: {
          statement:
            'Amount NGN 5,000.00 differs from the event’s amount, USD 4,000.00, and from the order’s amount, NGN 0.01',
        },
      },
    });
  });

  it('calls an order with a final status not paid, if it is the order asked for', () => {
    const cancelled = { ...paid, status: 'CANCELLED', outcome: 'not_paid' } as const;
    expect(confirm(charged, cancelled)).toMatchObject({
      kind: 'not_paid',
      evidence: { status: { holds: false, statement: 'Status is CANCELLED, which is final: not paid' } },
    });
    expect(confirm(charged, { ...cancelled, orderReference: 'ORDER-2' }).kind).toBe('not_confirmed');
  });

  it('calls a returned payment given back, also if its record is a debit', () => {
    const refunded = { ...paid, status: 'REFUNDED', outcome: 'given_back' } as const;
    expect(confirm(charged, refunded)).toMatchObject({
      kind: 'given_back',
      evidence: { status: { holds: false, statement: 'Status is REFUNDED: it was paid and given back' } },
    });
    expect(confirm(charged, { ...refunded, entryType: 'DEBIT' }).kind).toBe('given_back');
    expect(confirm(charged, { ...refunded, orderReference: 'ORDER-2' }).kind).toBe('not_confirmed');
    // With a second record that says paid, neither is believed.
    expect(confirm(charged, { ...refunded, others: [paid] }).kind).toBe('not_confirmed');
  });

  it('reads a status as the settings say', () => {
    expect(confirm(charged, { ...paid, status: 'SETTLED', outcome: 'paid' }).kind).toBe('confirmed');
    expect(confirm(charged, { ...paid, outcome: 'unknown' }).kind).toBe('not_confirmed');
  });

  it('says which amount was compared, if settings define it', () => {
    const withFee = { ...paid, compared: { how: 'amount 5075.00 − fee 75.00', takenMinor: 507_500 } };
    expect(confirm(charged, withFee)).toMatchObject({
      kind: 'confirmed',
      money: { minor: 500_000 },
      evidence: {
        amount: {
          statement:
            'Amount NGN 5,000.00 (amount 5075.00 − fee 75.00) equals the amount charged and the order’s amount',
        },
      },
    });
    const event = { minor: 507_500, currency: 'NGN', source: 'event' } as const;
    expect(confirm({ reference, amount: event }, withFee).kind, 'an event may tell what was taken').toBe(
      'confirmed',
    );
    const link = { ...event, source: 'link' } as const;
    expect(confirm({ reference, amount: link }, withFee).kind).toBe('not_confirmed');
  });

  it('refuses the amount that settings define if less was taken', () => {
    const short = { ...paid, compared: { how: 'onlineCheckoutAmount', takenMinor: 100 } };
    expect(confirm({ reference }, short)).toMatchObject({
      kind: 'not_confirmed',
      evidence: {
        amount: {
          statement: 'Amount NGN 5,000.00 (onlineCheckoutAmount), but only NGN 1.00 was taken',
        },
      },
    });
  });

  it('compares with the given amount if the record has no order amount', () => {
    const { orderAmountMinor: _gone, ...rest } = paid;
    expect(confirm(charged, rest).kind).toBe('confirmed');
    const amount = { minor: 500_001, source: 'person' } as const;
    expect(confirm({ reference, amount }, rest).kind).toBe('not_confirmed');
  });

  it('refuses a zero amount even for an order of zero', () => {
    const nothing = { ...paid, amountMinor: 0, orderAmountMinor: 0 };
    expect(confirm({ reference }, nothing)).toMatchObject({
      kind: 'not_confirmed',
      evidence: { amount: { holds: false, statement: 'Amount NGN 0.00: nothing was taken' } },
    });
  });

  it.each([
    ['a failed one', { status: 'FAILED' }, 'SUCCESS NGN 5,000.00; FAILED NGN 5,000.00'],
    ['one of another amount', { amountMinor: 1 }, 'SUCCESS NGN 5,000.00; SUCCESS NGN 0.01'],
    ['one in another currency', { currency: 'USD' }, 'SUCCESS NGN 5,000.00; SUCCESS USD 5,000.00'],
    ['money that left', { entryType: 'DEBIT' }, 'SUCCESS NGN 5,000.00; SUCCESS NGN 5,000.00 DEBIT'],
  ])('believes neither of two records that differ: %s', (_, changed, shown) => {
    const other: Transaction = { ...paid, ...changed };
    const verdict = { kind: 'not_confirmed', evidence: { status: { holds: false } } };
    expect(confirm(charged, { ...paid, others: [other] })).toMatchObject({
      ...verdict,
      evidence: { status: { holds: false, statement: `2 records of this reference differ: ${shown}` } },
    });
    expect(confirm(charged, { ...other, others: [paid] })).toMatchObject(verdict);
  });

  it('never calls an order finally not paid while another record of it differs', () => {
    const over: Transaction = { ...paid, status: 'CANCELLED', outcome: 'not_paid' };
    expect(confirm(charged, { ...over, others: [{ ...over }] }).kind).toBe('not_paid');
    expect(confirm(charged, { ...over, others: [paid] }).kind).toBe('not_confirmed');
  });

  it('confirms by two records that agree, and never by a DEBIT', () => {
    expect(confirm(charged, { ...paid, others: [{ ...paid }] }).kind).toBe('confirmed');
    expect(confirm(charged, { ...paid, entryType: 'CREDIT' }).kind).toBe('confirmed');
    expect(confirm(charged, { ...paid, entryType: 'DEBIT' })).toMatchObject({
      kind: 'not_confirmed',
      evidence: { status: { holds: false, statement: 'The record is a DEBIT, which is no payment' } },
    });
  });

  it('says not found without a transaction', () => {
    expect(confirm(charged, undefined)).toEqual({ kind: 'not_found' });
  });
});
