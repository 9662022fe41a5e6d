import { describe, expect, it } from 'vitest';
import { magicKobo } from '../../../src/simulators/payments/bank.ts';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import type { NextCharge } from '../../../src/simulators/protocol.ts';
import { merchantHeaders, startMerchant, type Merchant, type Reply } from './merchant.ts';

const { approves, declines } = seedCards;

type Card = { customerEmail: string; tokenKey: string };

function charge(merchant: Merchant, card: Card, orderReference: string, amount = '5000.00'): Promise<Reply> {
  const { customerEmail, tokenKey } = card;
  return merchant.charge({ amount, currency: 'NGN', customerEmail, orderReference }, tokenKey);
}

/** A caller that waits a moment for the answer. */
function chargeImpatiently(merchant: Merchant, card: Card, orderReference: string): Promise<Response> {
  const { customerEmail, tokenKey } = card;
  const order = { amount: '5000.00', currency: 'NGN', customerEmail, orderReference };
  return fetch(`${merchant.service.url}/v1/checkout/tokenized-card-payment`, {
    method: 'POST',
    headers: { ...merchantHeaders(merchant), 'content-type': 'application/json' },
    body: JSON.stringify({ tokenKey, order }),
    signal: AbortSignal.timeout(150),
  });
}

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
    expect(
      (await charge(merchant, next === 'approve' ? declines : approves, 'N-1', '5000.03')).data,
    ).toMatchObject(data);
    expect(merchant.service.state().nextCharge).toBe('as_usual');
    expect((await charge(merchant, approves, 'N-2')).data).toMatchObject({ status: true });
  });

  it('is charged though its answer is lost', async () => {
    const merchant = await ordered('lost_answer');
    await expect(chargeImpatiently(merchant, declines, 'N-1')).rejects.toThrow('timeout');
    expect((await merchant.lookUp('N-1')).data['status']).toBe('SUCCESS');
    expect((await charge(merchant, declines, 'N-1')).data['message']).toContain('already exists');
    expect(merchant.service.stats().chargesByReference).toEqual({ 'N-1': 1 });
  });

  it('hangs and charges nothing, and the same reference sent again goes through', async () => {
    const merchant = await ordered('lost_request');
    await expect(chargeImpatiently(merchant, approves, 'N-1')).rejects.toThrow('timeout');
    expect((await merchant.lookUp('N-1')).body['code']).toBe('01');
    expect((await charge(merchant, approves, 'N-1')).data).toMatchObject({ status: true });
  });

  it('is not used up by a rejected one, nor by the merchant’s own system', async () => {
    const merchant = await ordered('decline');
    await charge(merchant, { ...approves, tokenKey: 'tok-nobody' }, 'N-1');
    const { customerEmail } = approves;
    await merchant.service.act({ kind: 'approve_saved_card_charge', amount: '5000', customerEmail });
    expect(merchant.service.state().nextCharge).toBe('decline');
  });
});

describe('the panel', () => {
  it('lists every amount that decides, and what each card does', async () => {
    const { magicAmounts, cards } = (await startMerchant()).service.state();
    expect(magicAmounts).toHaveLength(Object.keys(magicKobo).length);
    expect(magicAmounts[5]).toEqual({ ending: '.06', does: magicKobo[6]?.does });
    expect(cards.map(({ tokenKey, does }) => [tokenKey, does])).toEqual([
      [approves.tokenKey, 'Every charge is approved at once.'],
      ['tok-bola-otp', expect.stringContaining('123456 is right')],
      [declines.tokenKey, 'Every charge is declined: Insufficient funds.'],
      ['tok-dayo-3ds', expect.stringContaining('3-D Secure')],
    ]);
  });
});

describe('the customer’s phone', () => {
  it('shows the code while the charge waits for it, and how often it was sent', async () => {
    const merchant = await startMerchant();
    const { transactionId } = (await charge(merchant, seedCards.requiresOtp, 'P-1')).data;
    const phone = () => merchant.service.state().orders[0]?.otp;
    const until = merchant.clock.now + 15 * 60_000;
    expect(phone()).toEqual({ code: '123456', resends: 0, triesLeft: 3, until });
    const submit = (otp: string) =>
      merchant.callBare('POST', '/v1/checkout/checkout-card-otp', {
        body: { otp, orderReference: 'P-1', transactionId },
      });
    await submit('000000');
    merchant.clock.now += 60_000;
    const body = { orderReference: transactionId };
    await merchant.callBare('POST', '/v1/checkout/resend-otp', { body });
    expect(phone()).toEqual({ code: '123456', resends: 1, triesLeft: 2, until });
    await submit('123456');
    expect(merchant.service.state().orders[0]).toMatchObject({ orderReference: 'P-1', state: 'paid' });
    expect(phone()).toBeUndefined();
  });

  it('forgets the code when its time is over', async () => {
    const merchant = await startMerchant();
    await charge(merchant, seedCards.requiresOtp, 'P-1');
    merchant.clock.now += 15 * 60_000;
    expect(merchant.service.state().orders[0]).toMatchObject({ state: 'failed' });
    expect(merchant.service.state().orders[0]).not.toHaveProperty('otp');
  });
});
