import { describe, expect, it } from 'vitest';
import { eventsOf, startMerchant, startReceiver, type Merchant } from './merchant.ts';

async function linkOf(merchant: Merchant, extra: Record<string, string> = {}): Promise<string> {
  const order = { amount: '12500.00', currency: 'NGN', customerEmail: 'eniola@example.com', ...extra };
  const body = { order, tokenizeCard: true };
  return (await merchant.call('POST', '/v1/checkout/order', { body })).data['checkoutLink'] as string;
}

async function post(link: string, fields: Record<string, string>): Promise<string> {
  const response = await fetch(link, { method: 'POST', body: new URLSearchParams(fields) });
  return response.text();
}

describe('checkout page', () => {
  it('takes a test card, then the bank’s code, and pays the order', async () => {
    const merchant = await startMerchant({ seed: false });
    const receiver = await startReceiver(merchant);
    const link = await linkOf(merchant);
    const opened = await (await fetch(link)).text();
    expect(opened).toContain('NGN 12,500.00');
    expect(opened).toContain('Simulation');
    expect(await post(link, { card: 'otp' })).toContain('Code from your bank');
    expect(await post(link, { otp: '000000' })).toContain('Invalid OTP');
    expect(await post(link, { otp: '123456' })).toContain('Paid');
    expect((await eventsOf(merchant, receiver)).map(({ event }) => event)).toEqual(['payment_success']);
  });

  it('tells a decline and a 3-D Secure challenge, and offers another card', async () => {
    const merchant = await startMerchant({ seed: false });
    const link = await linkOf(merchant);
    expect(await post(link, { card: 'threeDSecure' })).toContain(
      '3-D Secure, which this simulation does not play',
    );
    const declined = await post(link, { card: 'declined' });
    expect(declined).toContain('Declined: Insufficient funds');
    expect(declined).toContain('value="otp"');
  });

  it('pays nothing without a choice', async () => {
    const merchant = await startMerchant({ seed: false });
    await post(await linkOf(merchant), { card: 'golden' });
    expect(merchant.service.state().orders[0]?.state).toBe('created');
  });

  it('escapes what the merchant wrote and asks for nothing from outside', async () => {
    const merchant = await startMerchant({ seed: false });
    const response = await fetch(await linkOf(merchant, { orderReference: '<img src=x onerror=alert(1)>' }));
    const html = await response.text();
    expect(html).not.toContain('<img');
    expect(html).not.toMatch(/(src|href)="http/);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('answers 404 for an unknown order', async () => {
    const merchant = await startMerchant();
    expect((await fetch(`${merchant.service.url}/checkout/nothing`)).status).toBe(404);
  });

  it('works in any weather', async () => {
    const merchant = await startMerchant({ seed: false });
    const link = await linkOf(merchant);
    await merchant.service.act({ kind: 'set_weather', weather: 'error_500' });
    expect((await fetch(link)).status).toBe(200);
  });
});
