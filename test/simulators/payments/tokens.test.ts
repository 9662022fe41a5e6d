import { describe, expect, it } from 'vitest';
import { issueToken, startMerchant, type Merchant } from './merchant.ts';

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
