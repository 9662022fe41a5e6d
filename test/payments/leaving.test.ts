import nock from 'nock';
import { describe, expect, it } from 'vitest';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { AccessToken } from '../../src/payments/access-token.ts';
import { chargeSavedCard } from '../../src/payments/charges.ts';
import { createPaymentsClient } from '../../src/payments/client.ts';
import { mockTheOutside } from '../support/mocks.ts';

mockTheOutside();

const baseUrl = 'https://payments.test';
const charge = {
  tokenKey: 'canary-token-key',
  money: { minor: 500, currency: 'NGN' },
  customerEmail: 'jane@example.com',
  reference: 'SUB-1' as OrderReference,
};

/** A charge that may leave until 1000, with a token that comes at `tokenAt` and its replacement at `replacementAt`. */
function chargeWith(tokenAt: number, replacementAt: number) {
  let nowMs = 0;
  function at(ms: number, token: string): Promise<string> {
    nowMs = ms;
    return Promise.resolve(token);
  }
  const accessToken: AccessToken = {
    current: () => at(tokenAt, 'token-1'),
    replace: () => at(replacementAt, 'token-2'),
  };
  const client = createPaymentsClient(
    { baseUrl, sandbox: false, timeoutMs: 1_000 },
    { accessToken, fetch: (request) => fetch(request) },
  );
  return chargeSavedCard(client, 'account', charge, { leaveBy: 1_000, now: () => nowMs });
}

describe('a charge that must not leave late', () => {
  it('leaves while there is time', async () => {
    nock(baseUrl)
      .post('/v1/checkout/tokenized-card-payment')
      .reply(200, {
        code: '00',
        status: true,
        data: { status: true, otpRequired: false, message: 'Approved' },
      });
    expect(await chargeWith(1_000, 1_000)).toMatchObject({ kind: 'approved' });
  });

  it('does not leave when its token came too late', async () => {
    expect(await chargeWith(1_001, 1_001)).toEqual({ kind: 'too_late' });
  });

  it('is not repeated when the token’s replacement came too late', async () => {
    nock(baseUrl).post('/v1/checkout/tokenized-card-payment').reply(401, {});
    expect(await chargeWith(0, 1_001)).toEqual({ kind: 'too_late' });
  });
});
