import { describe, expect, it } from 'vitest';
import { startMerchant } from './merchant.ts';

describe('account list', () => {
  it.each([{ limit: '51' }, { limit: '0' }, { limit: 'many' }, { cursor: 'made-up' }])(
    'refuses %j with 400',
    async (query) => {
      const merchant = await startMerchant();
      for (const path of ['/v1/accounts', '/v1/accounts/terminals']) {
        expect((await merchant.call('GET', path, { query })).status).toBe(400);
      }
    },
  );
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
});
