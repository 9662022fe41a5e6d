import { describe, expect, it } from 'vitest';
import { proposeTransaction } from '../../../src/cli/connect/propose-transaction.ts';
import { parseOrderReference } from '../../../src/domain/order-reference.ts';
import type { TransactionReading } from '../../../src/payments/lookups.ts';

const read = parseOrderReference('ORDER-1');
if (!read.ok) throw new Error(read.problem);
const known = { reference: read.value, minor: 500_000 };
const ours: TransactionReading = {
  paymentsPaidStatuses: ['SUCCESS'],
  paymentsFinalStatuses: undefined,
  paymentsGivenBackStatuses: undefined,
  paymentsAmountPointer: '/amount',
  paymentsFeePointer: undefined,
};
const paid = {
  status: 'SUCCESS',
  amount: '5000.00',
  currency: 'NGN',
  entryType: 'CREDIT',
  onlineCheckoutOrderReference: 'ORDER-1',
  onlineCheckoutAmount: '5000.00',
};

function changesFor(record: object, settings: Partial<TransactionReading> = {}) {
  return proposeTransaction([{ ...paid, ...record }], known, { ...ours, ...settings });
}

describe('a payment known as paid', () => {
  it.each<[string, object, Partial<TransactionReading>, object]>([
    ['fits the settings', {}, {}, {}],
    ['has another status than the setting', { status: 'SETTLED' }, {}, { PAYMENTS_PAID_STATUSES: 'SETTLED' }],
    [
      'has a status that the settings call final',
      { status: 'DONE' },
      { paymentsFinalStatuses: ['FAILED', 'DONE'] },
      { PAYMENTS_PAID_STATUSES: 'DONE', PAYMENTS_FINAL_STATUSES: 'FAILED' },
    ],
    [
      'has an amount that includes the fee',
      { amount: '5075.00', fee: '75.00' },
      {},
      { PAYMENTS_FEE_POINTER: '/fee' },
    ],
    [
      'has a fee without a field for it',
      { amount: '5075.00' },
      {},
      { PAYMENTS_AMOUNT_POINTER: '/onlineCheckoutAmount' },
    ],
    [
      'has a nested amount that includes a fee',
      { amount: undefined, settlement: { gross: '5075.00', serviceCharge: '75.00' } },
      {},
      { PAYMENTS_AMOUNT_POINTER: '/settlement/gross', PAYMENTS_FEE_POINTER: '/settlement/serviceCharge' },
    ],
    [
      'has a fee that its amount doesn’t include',
      { fee: '75.00' },
      { paymentsFeePointer: '/fee' },
      { PAYMENTS_FEE_POINTER: '' },
    ],
    [
      'has its amount in another field than the settings say',
      { balance: '9.00' },
      { paymentsAmountPointer: '/balance' },
      { PAYMENTS_AMOUNT_POINTER: '/amount' },
    ],
  ])('%s', (_what, record, settings, changes) => {
    expect(changesFor(record, settings)).toEqual({ kind: 'fits', changes });
  });

  it.each<[string, object, string]>([
    ['that is reversed', { status: 'REVERSED' }, 'Its status is REVERSED. Is it paid?'],
    ['whose status would control a terminal', { status: 'PAID\u001B[2J' }, 'no plain word'],
    ['without a status', { status: undefined }, 'no status where the specification has it'],
    [
      'in hundredths',
      { amount: 500_000, onlineCheckoutAmount: 500_000 },
      '/amount tells the amount in hundredths',
    ],
    [
      'under another reference',
      { onlineCheckoutOrderReference: 'X' },
      'onlineCheckoutOrderReference is not the reference',
    ],
    [
      'of another amount',
      { amount: '60.00', onlineCheckoutAmount: '60.00' },
      'is 5000.00 and agrees with the order. Amounts of the record: /amount 60.00, /onlineCheckoutAmount 60.00.',
    ],
    [
      'whose known amount includes a fee',
      { amount: undefined, gross: '5000.00', fee: '75.00', onlineCheckoutAmount: '4925.00' },
      '5000.00 stands at /gross, but its order was for 4925.00. Give the order’s amount, without a fee on top.',
    ],
  ])('%s fits no settings, and the reason is given', (_what, record, why) => {
    expect(changesFor(record)).toMatchObject({ kind: 'none', why: expect.stringContaining(why) });
  });

  it('fits no settings if the service doesn’t know its reference', () => {
    expect(proposeTransaction([], known, ours)).toMatchObject({
      kind: 'none',
      why: expect.stringContaining('no such reference'),
    });
  });

  it('fits no settings if two records of it differ', () => {
    const other = { ...paid, amount: '1.00', onlineCheckoutAmount: '1.00' };
    expect(proposeTransaction([paid, other], known, ours).kind).toBe('none');
  });
});
