import { describe, expect, it } from 'vitest';
import { issueToken, startMerchant, type Merchant } from './merchant.ts';

const minuteMs = 60_000;

function told(headers: Headers): (string | null)[] {
  return ['limit', 'remaining', 'window'].map((name) => headers.get(`x-rate-limit-${name}`));
}

function listAccounts(merchant: Merchant, token: string): Promise<number> {
  return merchant
    .call('GET', '/v1/accounts', { headers: { authorization: `Bearer ${token}` } })
    .then(({ status }) => status);
}

describe('token issue', () => {
  it('makes the token before it worthless: one session for an account', async () => {
    const merchant = await startMerchant();
    const older = merchant.token;
    const newer = (await issueToken(merchant)).data['accessToken'] as string;
    expect(await listAccounts(merchant, older)).toBe(401);
    expect(await listAccounts(merchant, newer)).toBe(200);
  });

  it('refuses wrong credentials with 401, a foreign or missing account with 403, another body with 400', async () => {
    const merchant = await startMerchant();
    const { accountId, clientId } = merchant.service.credentials;
    const path = '/v1/auth/token/issue';
    const wrong = { clientId, clientSecret: 'guess' };
    const foreign = { accountId: '0b7e4c19-3a52-4d8f-9c61-5e2f7a08d3b4' };
    const statuses = [
      await merchant.callBare('POST', path, { headers: { accountId }, body: wrong }),
      await merchant.callBare('POST', path, { headers: foreign, body: wrong }),
      await merchant.callBare('POST', path, { body: wrong }),
      await merchant.callBare('POST', path, { headers: { accountId }, body: { clientId } }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 403, 403, 400]);
  });
});

describe('token lifetime', () => {
  it('ends to the millisecond', async () => {
    const merchant = await startMerchant({ tokenLifetimeMs: minuteMs });
    merchant.clock.now += minuteMs - 1;
    expect(await listAccounts(merchant, merchant.token)).toBe(200);
    merchant.clock.now += 1;
    expect(await listAccounts(merchant, merchant.token)).toBe(401);
  });

  it('starts again with a refresh, which works once and ends the older token', async () => {
    const merchant = await startMerchant();
    const issued = (await issueToken(merchant)).data;
    merchant.token = issued['accessToken'] as string;
    const body = { refreshToken: issued['refreshToken'] };
    const refreshed = await merchant.call('POST', '/v1/auth/token/refresh', { body });
    expect(refreshed.status).toBe(200);
    expect(await listAccounts(merchant, merchant.token)).toBe(401);
    merchant.token = refreshed.data['accessToken'] as string;
    expect(await listAccounts(merchant, merchant.token)).toBe(200);
    expect((await merchant.call('POST', '/v1/auth/token/refresh', { body })).status).toBe(401);
  });

  it('ends with a revocation', async () => {
    const merchant = await startMerchant();
    const body = { accessToken: merchant.token };
    expect((await merchant.callBare('POST', '/v1/auth/token/revoke', { body })).status).toBe(200);
    expect(await listAccounts(merchant, merchant.token)).toBe(401);
    expect(merchant.service.stats().tokensRevoked).toBe(1);
  });
});

describe('rate limit', () => {
  it('tells limit, rest and window, then answers 429 until the window is over', async () => {
    const merchant = await startMerchant({ rateLimit: { limit: 2, windowMs: minuteMs } });
    const replies = [
      await merchant.call('GET', '/v1/accounts'),
      await merchant.call('GET', '/v1/accounts'),
      await merchant.call('GET', '/v1/accounts'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(replies.map(({ headers }) => told(headers))).toEqual([
      ['2', '1', '60s'],
      ['2', '0', '60s'],
      ['2', '0', '60s'],
    ]);
    merchant.clock.now += minuteMs;
    expect((await merchant.call('GET', '/v1/accounts')).status).toBe(200);
  });
});
