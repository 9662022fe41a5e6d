import { readFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import { describe, expect, it } from 'vitest';
import { generateSchema } from '../../scripts/generate.ts';
import type { components, paths } from '../../src/payments/schema.d.ts';

describe('src/payments/schema.d.ts', () => {
  it('is what openapi/payments.yaml generates (else: npm run generate)', async () => {
    const present = await readFile(new URL('../../src/payments/schema.d.ts', import.meta.url), 'utf8');
    expect(present).toBe(await generateSchema());
  });
});

type Sent = { url: string; headers: Headers; body: unknown };

/** A client whose requests go nowhere but into the list. Their types are the point: tsc checks this file. */
function recordingClient(): { client: ReturnType<typeof createClient<paths>>; sent: Sent[] } {
  const sent: Sent[] = [];
  const client = createClient<paths>({
    baseUrl: 'https://payments.test',
    fetch: async (request) => {
      const text = await request.text();
      sent.push({
        url: request.url,
        headers: request.headers,
        body: text === '' ? undefined : JSON.parse(text),
      });
      return Response.json({ code: '00', description: 'Success' });
    },
  });
  return { client, sent };
}

const accountId = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';
const order = { amount: '5000.00', currency: 'NGN', customerEmail: 'payer@customer.example' };

describe('the generated types', () => {
  it('ask for no header where the specification has none', async () => {
    const { client, sent } = recordingClient();
    const otp = { otp: '000000', orderReference: 'INV-1', transactionId: 'TXN-1' };
    await client.POST('/v1/checkout/checkout-card-otp', { body: otp });
    await client.POST('/v1/checkout/resend-otp', { body: { orderReference: 'TXN-1' } });
    // @ts-expect-error the OTP endpoint takes no accountId
    await client.POST('/v1/checkout/checkout-card-otp', { body: otp, params: { header: { accountId } } });
    expect(sent[0]).toMatchObject({
      url: 'https://payments.test/v1/checkout/checkout-card-otp',
      body: otp,
    });
    expect(sent[0]?.headers.has('accountId')).toBe(false);
  });

  it('ask for accountId on a protected endpoint', async () => {
    const { client, sent } = recordingClient();
    const body = { tokenKey: 'TOKEN', order };
    await client.POST('/v1/checkout/tokenized-card-payment', { params: { header: { accountId } }, body });
    // @ts-expect-error accountId is missing
    await client.POST('/v1/checkout/tokenized-card-payment', { body });
    expect(sent[0]?.headers.get('accountId')).toBe(accountId);
  });

  it('refuse a request that the specification does not allow', () => {
    type Schemas = components['schemas'];
    // @ts-expect-error tokenizeCard stands beside order
    const misplaced: Schemas['CheckoutOrderRequest'] = { order: { ...order, tokenizeCard: true } };
    // @ts-expect-error amounts are strings
    const numeric: Schemas['CheckoutOrder'] = { ...order, amount: 5000 };
    // @ts-expect-error split settings are not applied to saved-card charges
    const split: Schemas['SavedCardChargeOrder'] = { ...order, splitRequest: {} };
    const saving: Schemas['CardDetailRequest'] = {
      cardDetails: '',
      key: '',
      orderReference: 'ORDER-1',
      deviceInformation: {},
      // @ts-expect-error saveCard is never sent
      saveCard: true,
    };
    expect([misplaced, numeric, split, saving]).toHaveLength(4);
  });

  it('leave open what is not shown', () => {
    const issue: components['schemas']['IssueTokenRequest'] = { clientId: 'id', nested: { secret: 's' } };
    const answer: components['schemas']['ErrorBody'] = { whatever: 1 };
    expect([issue, answer]).toHaveLength(2);
  });
});
