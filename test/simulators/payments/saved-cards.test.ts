import { describe, expect, it } from 'vitest';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { startMerchant } from './merchant.ts';

const path = '/v1/checkout/tokenized-card-data';
const { approves } = seedCards;

describe('change of a saved card’s e-mail', () => {
  it('changes nothing when the current e-mail is not the linked one', async () => {
    const merchant = await startMerchant();
    const addresses = { currentEmailAddress: 'x@example.com', newEmailAddress: 'y@example.com' };
    const reply = await merchant.call('POST', path, { body: { tokenKey: approves.tokenKey, ...addresses } });
    expect(reply.body['code']).toBe('00');
    expect(reply.data['status']).toBe(false);
    expect(reply.data).not.toHaveProperty('tokenizedCardData');
    expect(merchant.service.state().cards[0]?.customerEmail).toBe(approves.customerEmail);
  });

  it('answers 404 for an unknown card, 400 for a body without it, 401 without a token', async () => {
    const merchant = await startMerchant();
    const addresses = { currentEmailAddress: 'x@example.com', newEmailAddress: 'y@example.com' };
    const body = { tokenKey: 'tok-nobody', ...addresses };
    expect((await merchant.call('POST', path, { body })).status).toBe(404);
    expect((await merchant.call('POST', path, { body: addresses })).status).toBe(400);
    expect((await merchant.callBare('POST', path, { body })).status).toBe(401);
  });
});
