import { describe, expect, it } from 'vitest';
import { eventsOf, startMerchant, startReceiver, type Data, type Merchant } from './merchant.ts';

const customer = { amount: '12500.00', currency: 'NGN', customerEmail: 'eniola@example.com' };

async function linkOf(merchant: Merchant, extra: Data = {}): Promise<string> {
  const body = { order: { ...customer, ...extra } };
  return (await merchant.call('POST', '/v1/checkout/order', { body })).data['checkoutLink'] as string;
}

async function post(link: string, fields: Record<string, string>): Promise<void> {
  await fetch(link, { method: 'POST', body: new URLSearchParams(fields) });
}

describe('a payment on the checkout page', () => {
  it('takes three codes and refuses the fourth, even the right one', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    const link = await linkOf(merchant);
    await post(link, { card: 'otp' });
    for (const otp of ['000000', '000000', '000000', '123456']) await post(link, { otp });
    expect(await (await fetch(link)).text()).toContain('TOO MANY OTP ATTEMPTS');
    expect(merchant.service.stats().chargesByReference).toEqual({});
    expect(await eventsOf(merchant, receiver)).toEqual([]);
  });

  it('escapes the merchant’s words and loads nothing from outside', async () => {
    const merchant = await startMerchant({ seed: false });
    const response = await fetch(await linkOf(merchant, { orderReference: '<img src=x onerror=alert(1)>' }));
    const html = await response.text();
    expect(html).not.toContain('<img');
    expect(html).not.toMatch(/(src|href)="http/);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});
