import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ChargeTerms } from '../../../src/domain/charge-terms.ts';
import { createChargeDrafts } from '../../../src/operations/charge/charge-drafts.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { memoryStore } from '../memory-store.ts';

const minute = 60_000;
const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
const fingerprint = (tokenKey: string) => Promise.resolve(`of-${tokenKey.length}`);
const terms: ChargeTerms = {
  tokenKey: 'canary-token',
  card: { cardType: 'Visa', lastFour: '4081' },
  money: { minor: 1_250_000, currency: 'NGN' },
  customerEmail: 'canary@example.com',
  reason: 'canary-reason',
};

function replicas() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  return {
    clock,
    store,
    first: createChargeDrafts({ store, sealer, fingerprint }),
    second: createChargeDrafts({ store, sealer, fingerprint }),
  };
}

describe('createChargeDrafts', () => {
  it('gives the terms that were kept, on another replica too', async () => {
    const { first, second } = replicas();
    const word = await first.keep('V1', terms);
    expect(await second.read('V1', word)).toEqual(terms);
    const bare: ChargeTerms = { tokenKey: 't', card: {}, money: terms.money, customerEmail: 'a@b.co' };
    expect(await second.read('V2', await first.keep('V2', bare))).toStrictEqual(bare);
  });

  it('gives nothing for a word that is not of the terms as they are now, nor for another dialogue', async () => {
    const { first } = replicas();
    const old = await first.keep('V1', terms);
    const changed = { ...terms, money: { minor: 1_250_001, currency: 'NGN' } };
    const word = await first.keep('V1', changed);
    expect(await first.read('V1', old)).toBeUndefined();
    expect(await first.read('V1', word)).toEqual(changed);
    expect(await first.read('V2', word)).toBeUndefined();
    expect(await first.read('V1', '')).toBeUndefined();
  });

  it.each<Partial<ChargeTerms>>([
    { tokenKey: 'other' },
    { card: { cardType: 'Visa', lastFour: '4082' } },
    { card: {} },
    { money: { minor: 1_250_000, currency: 'USD' } },
    { customerEmail: 'canary@example.org' },
    { customerId: 'C-1' },
    { reason: 'another' },
    { alert: 'payment_failed/order/ORDER-1' },
  ])('knows the terms as changed by %o', async (change) => {
    const { first } = replicas();
    const word = await first.keep('V1', terms);
    await first.keep('V1', { ...terms, ...change });
    expect(await first.read('V1', word)).toBeUndefined();
  });

  it('gives the same word for the same terms kept again, so that a repeated submit makes nothing stale', async () => {
    const { first, second } = replicas();
    const word = await first.keep('V1', terms);
    const shuffled = Object.fromEntries(Object.entries(terms).toReversed()) as ChargeTerms;
    expect(await second.keep('V1', shuffled)).toBe(word);
  });

  it('keeps one of two terms that are kept at once, and knows which', async () => {
    const { first, second } = replicas();
    const other = { ...terms, reason: 'other' };
    const words = await Promise.all([first.keep('V1', terms), second.keep('V1', other)]);
    const found = await Promise.all(words.map((word) => first.read('V1', word)));
    expect(found.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it('forgets them after half an hour, which each keep starts anew', async () => {
    const { clock, first } = replicas();
    await first.keep('V1', terms);
    clock.nowMs += 29 * minute;
    const word = await first.keep('V1', terms);
    clock.nowMs += 29 * minute;
    expect(await first.read('V1', word)).toEqual(terms);
    clock.nowMs += minute;
    expect(await first.read('V1', word)).toBeUndefined();
  });

  it('leaves nothing in the clear, and gives a word that differs between dialogues', async () => {
    const { store, first } = replicas();
    const words = [await first.keep('V1', terms), await first.keep('V2', terms)];
    for (const word of words) expect(word).toMatch(/^[0-9a-f]{32}$/);
    expect(words[0]).not.toBe(words[1]);
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value));
    expect([...store.keys(), ...values, ...words].join()).not.toMatch(/canary|4081|1250000/);
  });
});
