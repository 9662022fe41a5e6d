import { describe, expect, it } from 'vitest';
import { startMerchant, type Data } from './merchant.ts';

describe('account list', () => {
  it('shows an account created while paging neither twice nor in another’s place', async () => {
    const merchant = await startMerchant();
    const first = (await merchant.call('GET', '/v1/accounts', { query: { limit: '50' } })).body;
    await merchant.call('POST', '/v1/accounts', { body: { accountName: 'New Branch' } });
    const query = { limit: '50', cursor: first['cursor'] as string };
    const second = (await merchant.call('GET', '/v1/accounts', { query })).body;
    const ids = [first, second].flatMap((page) => (page['results'] as Data[]).map((one) => one['accountId']));
    expect([ids.length, new Set(ids).size]).toEqual([60, 60]);
  });

  it.each([{ limit: '51' }, { limit: '0' }, { limit: 'many' }, { cursor: 'made-up' }])(
    'refuses %j with 400',
    async (query) => {
      const merchant = await startMerchant();
      for (const path of ['/v1/accounts', '/v1/accounts/terminals']) {
        expect((await merchant.call('GET', path, { query })).status).toBe(400);
      }
    },
  );

  it('refuses another list’s cursor', async () => {
    const merchant = await startMerchant();
    const cursor = (await merchant.call('GET', '/v1/accounts/terminals')).data['cursor'] as string;
    expect((await merchant.call('GET', '/v1/accounts', { query: { cursor } })).status).toBe(400);
  });
});

describe('sub account', () => {
  it('keeps the spec’s lengths and the reference unique', async () => {
    const merchant = await startMerchant();
    const accountRef = 'A2345678901234567890';
    const bodies = [
      { accountName: 'Ibadan', accountRef },
      { accountName: 'Ibadan', accountRef },
      { accountName: 'I' },
      { accountName: 'Ibadan', accountRef: 'short' },
      { accountName: 'Ibadan', bvn: '123' },
      { accountName: 'Ibadan', currency: 'USD' },
    ];
    const statuses: number[] = [];
    for (const body of bodies) statuses.push((await merchant.call('POST', '/v1/accounts', { body })).status);
    expect(statuses).toEqual([200, 400, 400, 400, 400, 400]);
  });

  it('answers 404 for an unknown one and 403 for another parent', async () => {
    const merchant = await startMerchant();
    const path = '/v1/accounts/sub-account-details';
    const query = { accountRef: 'nowhere' };
    expect((await merchant.call('GET', path, { query })).status).toBe(404);
    const headers = { accountId: '0b7e4c19-3a52-4d8f-9c61-5e2f7a08d3b4' };
    expect((await merchant.call('GET', path, { query, headers })).status).toBe(403);
  });
});
