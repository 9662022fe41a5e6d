import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ChargeTerms } from '../../../src/domain/charge.ts';
import { createChargeDrafts } from '../../../src/features/charge/charge-desk.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { memoryStore } from '../memory-store.ts';

const minute = 60_000;
const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
const terms: ChargeTerms = {
  tokenKey: 'canary-token',
  card: { cardType: 'Visa', lastFour: '4081' },
  money: { minor: 1_250_000, currency: 'NGN' },
  customerEmail: 'canary@example.com',
  reason: 'canary-reason',
};

function openDrafts() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const drafts = createChargeDrafts({ store, sealer, wait: () => Promise.resolve() });
  return { clock, store, drafts };
}

describe('the terms of a charge that were read back', () => {
  it.each<Partial<ChargeTerms>>([
    { tokenKey: 'other' },
    { card: {} },
    { money: { minor: 1_250_000, currency: 'USD' } },
    { customerEmail: 'canary@example.org' },
    { customerId: 'C-1' },
    { reason: 'another' },
    { alert: 'payment_failed/order/ORDER-1' },
  ])('are gone once they are changed by %o, and those that came last are known', async (change) => {
    const { drafts } = openDrafts();
    const words = await Promise.all([terms, { ...terms, ...change }].map((each) => drafts.keep('V1', each)));
    expect(await drafts.read('V1', words[0]!)).toBeUndefined();
    expect(await drafts.read('V1', words[1]!)).toStrictEqual({ ...terms, ...change });
    expect(await drafts.read('V2', words[1]!)).toBeUndefined();
  });

  it('have the same word when they are submitted twice, for half an hour from the last time', async () => {
    const { clock, drafts } = openDrafts();
    const word = await drafts.keep('V1', terms);
    clock.nowMs += 29 * minute;
    const shuffled = Object.fromEntries(Object.entries(terms).toReversed()) as ChargeTerms;
    expect(await drafts.keep('V1', shuffled)).toBe(word);
    clock.nowMs += 29 * minute;
    expect(await drafts.read('V1', word)).toEqual(terms);
    clock.nowMs += minute;
    expect(await drafts.read('V1', word)).toBeUndefined();
  });

  it('stand nowhere in the clear', async () => {
    const { store, drafts } = openDrafts();
    const word = await drafts.keep('V1', terms);
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value));
    expect([...store.keys(), ...values, word].join()).not.toMatch(/canary|4081|1250000/);
  });
});
