import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { generateSchema } from '../../scripts/generate.ts';
import type { components, paths } from '../../src/payments/schema.d.ts';

it('src/payments/schema.d.ts is what openapi/payments.yaml generates (else: npm run generate)', async () => {
  const present = await readFile(new URL('../../src/payments/schema.d.ts', import.meta.url), 'utf8');
  expect(present).toBe(await generateSchema());
});

type Schemas = components['schemas'];
type HeaderOf<Path extends keyof paths> = paths[Path] extends {
  post: { parameters: { header?: infer Header } };
}
  ? Header
  : never;

const order = { amount: '5000.00', currency: 'NGN', customerEmail: 'payer@customer.example' };
const card = { cardDetails: '', key: '', orderReference: 'ORDER-1', deviceInformation: {} };

/** Their types are the point: tsc checks this file. */
it('the generated types refuse a request that the specification does not allow, and leave open what is not shown', () => {
  const given = {
    // @ts-expect-error the OTP endpoint takes no accountId
    open: { accountId: 'x' } satisfies HeaderOf<'/v1/checkout/checkout-card-otp'>,
    // @ts-expect-error accountId is missing
    parent: {} satisfies HeaderOf<'/v1/checkout/tokenized-card-payment'>,
    // @ts-expect-error tokenizeCard stands beside order
    misplaced: { order: { ...order, tokenizeCard: true } } satisfies Schemas['CheckoutOrderRequest'],
    // @ts-expect-error amounts are strings
    numeric: { ...order, amount: 5000 } satisfies Schemas['CheckoutOrder'],
    // @ts-expect-error split settings are not applied to saved-card charges
    split: { ...order, splitRequest: {} } satisfies Schemas['SavedCardChargeOrder'],
    // @ts-expect-error saveCard is never sent
    saving: { ...card, saveCard: true } satisfies Schemas['CardDetailRequest'],
    issue: { clientId: 'id', nested: { secret: 's' } } satisfies Schemas['IssueTokenRequest'],
    answer: { whatever: 1 } satisfies Schemas['ErrorBody'],
  };
  expect(Object.keys(given)).toHaveLength(8);
});
