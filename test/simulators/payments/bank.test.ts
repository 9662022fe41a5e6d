import { describe, expect, it } from 'vitest';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import type { NextCharge } from '../../../src/simulators/protocol.ts';
import { startMerchant, type Merchant } from './merchant.ts';

const { approves, declines, requiresOtp } = seedCards;

describe('a charge that goes wrong by its amount', () => {
  it('.12: the bank takes less than was asked', async () => {
    const merchant = await startMerchant();
    await merchant.chargeCard(approves, 'A-6', '5000.12');
    const found = (await merchant.lookUp('A-6')).data;
    expect(found).toMatchObject({ status: 'SUCCESS', amount: '4999.12', onlineCheckoutAmount: '5000.12' });
  });

  it('.13: the record of an approved charge is late by two look-ups', async () => {
    const merchant = await startMerchant();
    await merchant.chargeCard(approves, 'A-7', '5000.13');
    const statuses: unknown[] = [];
    for (let time = 0; time < 3; time += 1) statuses.push((await merchant.lookUp('A-7')).data['status']);
    expect(statuses).toEqual(['PENDING', 'PENDING', 'SUCCESS']);
  });

  it('.19: undecided, until the bank decides at last, once', async () => {
    const merchant = await startMerchant();
    await expect(merchant.chargeCard(approves, 'A-9', '5000.19')).rejects.toThrow('fetch failed');
    expect((await merchant.lookUp('A-9')).data['status']).toBe('PENDING');
    const decide = { kind: 'pay_order', orderReference: 'A-9', outcome: 'approved' } as const;
    expect(await merchant.service.act(decide)).toEqual({ ok: true });
    expect((await merchant.lookUp('A-9')).data['status']).toBe('SUCCESS');
    expect(await merchant.service.act(decide)).toMatchObject({ ok: false });
  });
});

async function ordered(next: NextCharge): Promise<Merchant> {
  const merchant = await startMerchant();
  expect(await merchant.service.act({ kind: 'order_next_charge', next })).toEqual({ ok: true });
  expect(merchant.service.state().nextCharge).toBe(next);
  return merchant;
}

describe('the next charge, as ordered on the panel', () => {
  it.each([
    ['approve', { status: true, otpRequired: false }],
    ['otp', { status: false, otpRequired: true }],
    ['decline', { status: false, message: 'Insufficient funds' }],
    ['three_d_secure', { status: false, message: expect.stringContaining('3-D Secure') as string }],
  ] as const)('is %s once, whatever its card and amount say', async (next, data) => {
    const merchant = await ordered(next);
    const card = next === 'approve' ? declines : approves;
    expect((await merchant.chargeCard(card, 'N-1', '5000.03')).data).toMatchObject(data);
    expect(merchant.service.state().nextCharge).toBe('as_usual');
    expect((await merchant.chargeCard(approves, 'N-2')).data).toMatchObject({ status: true });
  });

  it.each([
    ['lost_answer', declines, '00', { 'N-1': 1 }],
    ['lost_request', approves, '01', {}],
  ] as const)('is never answered (%s)', async (next, card, code, charges) => {
    const merchant = await ordered(next);
    await expect(merchant.chargeImpatiently(card, 'N-1')).rejects.toThrow('timeout');
    expect((await merchant.lookUp('N-1')).body['code']).toBe(code);
    expect(merchant.service.stats().chargesByReference).toEqual(charges);
  });

  it('is not used up by a rejected one, nor by the merchant’s own system', async () => {
    const merchant = await ordered('decline');
    await merchant.chargeCard({ ...approves, tokenKey: 'tok-nobody' }, 'N-1');
    const { customerEmail } = approves;
    await merchant.service.act({ kind: 'approve_saved_card_charge', amount: '5000', customerEmail });
    expect(merchant.service.state().nextCharge).toBe('decline');
  });
});

describe('the customer’s phone', () => {
  it('shows the code while the charge waits for it, and how often it was sent', async () => {
    const merchant = await startMerchant();
    const { transactionId } = (await merchant.chargeCard(requiresOtp, 'P-1')).data;
    const phone = () => merchant.service.state().orders[0]?.otp;
    const until = merchant.clock.now + 15 * 60_000;
    expect(phone()).toEqual({ code: '123456', resends: 0, triesLeft: 3, until });
    await merchant.submitOtp('P-1', transactionId, '000000');
    merchant.clock.now += 60_000;
    const body = { orderReference: transactionId };
    await merchant.callBare('POST', '/v1/checkout/resend-otp', { body });
    expect(phone()).toEqual({ code: '123456', resends: 1, triesLeft: 2, until });
    merchant.clock.now = until;
    expect(merchant.service.state().orders[0]).toMatchObject({ orderReference: 'P-1', state: 'failed' });
    expect(phone()).toBeUndefined();
  });
});
