import { describe, expect, it } from 'vitest';
import type { LimitRefusal } from '../../../src/features/charge/charge-limits.ts';
import { claimTimes } from '../../../src/domain/charge.ts';
import { chargeOf, countingHouse, hour, lagosMidnight, noon } from '../counting-house.ts';
import { memoryStore } from '../memory-store.ts';

function till() {
  const clock = { nowMs: noon };
  const store = memoryStore(clock);
  const house = countingHouse(store, () => clock.nowMs);
  return { clock, store, ...house, limits: house.replica(), other: house.replica() };
}

function refusedBy(refusal: LimitRefusal | undefined): string {
  if (!refusal) return 'allowed';
  return refusal.kind === 'over' ? refusal.limit : refusal.kind;
}

describe('a claim', () => {
  it('counts for the agent, and for the card with any agent', async () => {
    const { limits, other } = till();
    expect(refusedBy(await limits.claim(chargeOf('a', 5_000)))).toBe('allowed');
    // 3,000 are left of the card's limit, also for a colleague.
    expect(refusedBy(await other.claim(chargeOf('b', 3_001, { by: 'U2' })))).toBe('per_card_per_day');
    expect(refusedBy(await other.claim(chargeOf('c', 3_000, { by: 'U2' })))).toBe('allowed');
    for (const card of ['card2', 'card3', 'card4']) await limits.claim(chargeOf(card, 5_000, { card }));
    expect(await limits.claim(chargeOf('last', 1, { card: 'card5' }))).toEqual({
      kind: 'over',
      limit: 'per_agent_per_day',
      money: { minor: 1, currency: 'NGN' },
      limitMinor: 20_000,
      leftMinor: 0,
      freesAtMs: lagosMidnight,
      timeZone: 'Africa/Lagos',
      whoCan: ['lead'],
    });
    expect(refusedBy(await limits.claim(chargeOf('colleague', 1, { card: 'card5', by: 'U2' })))).toBe(
      'allowed',
    );
  });

  it('of many that two replicas make at once is refused where the limit is used up', async () => {
    const { limits, other } = till();
    const claims = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? limits : other).claim(chargeOf(`pay-${index}`, 3_000, { card: `card${index}` })),
    );
    expect((await Promise.all(claims)).filter((refusal) => !refusal)).toHaveLength(6);
    expect(await limits.of('U1')).toMatchObject({ currencies: [{ usedMinor: 18_000 }] });
  });

  it('refused for the card uses nothing of the agent’s day', async () => {
    const { limits } = till();
    await limits.claim(chargeOf('a', 5_000, { by: 'U2' }));
    expect(refusedBy(await limits.claim(chargeOf('b', 5_000)))).toBe('per_card_per_day');
    expect(await limits.of('U1')).toMatchObject({ currencies: [{ currency: 'NGN', usedMinor: 0 }] });
  });

  it('counts once per reference, and is never refused because of itself', async () => {
    const { limits, other } = till();
    for (const one of [limits, other, limits]) {
      expect(refusedBy(await one.claim(chargeOf('a', 5_000)))).toBe('allowed');
    }
    expect(await limits.of('U1')).toMatchObject({ currencies: [{ usedMinor: 5_000 }] });
    await limits.claim(chargeOf('b', 3_000));
    // The card's limit is used up, but another delivery of the same submit may be the one that charged.
    expect(refusedBy(await other.claim(chargeOf('a', 5_000)))).toBe('allowed');
    // A larger amount of the same dialogue is checked, without its own claim.
    expect(refusedBy(await other.claim(chargeOf('b', 3_001)))).toBe('per_card_per_day');
  });

  it('that was counted is allowed again, even if the limit was exceeded since: it may have charged', async () => {
    const { limits, other, heldRoles } = till();
    await limits.claim(chargeOf('a', 5_000));
    heldRoles.set('U9', { kind: 'known', roles: ['lead'] });
    await other.claim(chargeOf('big', 900_000, { by: 'U9' }));
    expect(refusedBy(await other.claim(chargeOf('a', 5_000)))).toBe('allowed');
    expect(refusedBy(await other.claim(chargeOf('b', 1)))).toBe('per_card_per_day');
  });

  it('without a charge is cleared after five minutes, and not before', async () => {
    const { limits, clock, ended } = till();
    await limits.claim(chargeOf('lost', 5_000));
    await limits.claim(chargeOf('stored', 3_000));
    ended.set('stored', false);
    clock.nowMs += claimTimes.lostMs - 1;
    expect(refusedBy(await limits.judge(chargeOf('next', 1)))).toBe('per_card_per_day');
    clock.nowMs += 1;
    expect(refusedBy(await limits.claim(chargeOf('next', 5_000)))).toBe('allowed');
    expect(refusedBy(await limits.judge(chargeOf('more', 1)))).toBe('per_card_per_day');
  });

  it('counts for the day of its submit, and the next day begins with nothing used', async () => {
    const { limits, clock } = till();
    clock.nowMs = lagosMidnight - 1;
    await limits.claim(chargeOf('late', 5_000, { atMs: lagosMidnight - 1 }));
    expect(refusedBy(await limits.judge(chargeOf('b', 5_000, { atMs: lagosMidnight - 1 })))).toBe(
      'per_card_per_day',
    );
    clock.nowMs = lagosMidnight;
    expect(refusedBy(await limits.judge(chargeOf('b', 5_000, { atMs: lagosMidnight })))).toBe('allowed');
    expect(await limits.of('U1')).toMatchObject({
      freesAtMs: lagosMidnight + 24 * hour,
      currencies: [{ usedMinor: 0 }],
    });
  });

  it('leaves no record after its day', async () => {
    const { limits, store, clock } = till();
    await limits.claim(chargeOf('a', 5_000));
    expect(store.keys()).toHaveLength(2);
    clock.nowMs = lagosMidnight + hour;
    for (const key of store.keys()) await store.read(key);
    expect(store.keys()).toEqual([]);
  });

  it('is refused with the reason if the person’s roles are unknown, or none may charge', async () => {
    const { limits, heldRoles, store } = till();
    heldRoles.set('U1', { kind: 'unknown' });
    expect(refusedBy(await limits.claim(chargeOf('a', 1)))).toBe('roles_unknown');
    expect(refusedBy(await limits.judge(chargeOf('a', 1)))).toBe('roles_unknown');
    expect(await limits.of('U1')).toEqual({ kind: 'unknown' });
    heldRoles.set('U1', { kind: 'known', roles: [] });
    expect(refusedBy(await limits.claim(chargeOf('a', 1)))).toBe('no_role');
    heldRoles.set('U1', { kind: 'known', roles: ['agent'] });
    expect(refusedBy(await limits.claim(chargeOf('a', 1, { money: { minor: 1, currency: 'USD' } })))).toBe(
      'currency',
    );
    expect(store.keys()).toEqual([]);
  });

  it('of an unlimited agent counts for the card', async () => {
    const { limits, heldRoles } = till();
    heldRoles.set('U9', { kind: 'known', roles: ['lead'] });
    expect(refusedBy(await limits.claim(chargeOf('big', 900_000, { by: 'U9' })))).toBe('allowed');
    expect(refusedBy(await limits.claim(chargeOf('a', 1)))).toBe('per_card_per_day');
    expect(await limits.of('U9')).toEqual({ kind: 'none' });
  });
});

describe('a check', () => {
  it('counts nothing, and ignores the dialogue’s own claim', async () => {
    const { limits, store } = till();
    await limits.claim(chargeOf('a', 2_000, { by: 'U2' }));
    await limits.claim(chargeOf('b', 1_000));
    const keys = store.keys().length;
    for (const reference of ['c', 'b'])
      expect(await limits.judge(chargeOf(reference, 1_000))).toBeUndefined();
    expect(refusedBy(await limits.judge(chargeOf('c', 5_001)))).toBe('per_charge');
    expect(store.keys()).toHaveLength(keys);
  });
});

describe('a charge that is over', () => {
  it('counts no longer if it ended without money, and again if it has moved money after all', async () => {
    const { limits, ended } = till();
    await limits.claim(chargeOf('a', 5_000));
    ended.set('a', false);
    expect(refusedBy(await limits.judge(chargeOf('b', 5_000)))).toBe('per_card_per_day');
    ended.set('a', true);
    expect(refusedBy(await limits.claim(chargeOf('b', 5_000)))).toBe('allowed');
    // The correction counts, even if the card's limit is used up by now.
    ended.set('a', false);
    expect(await limits.of('U1')).toMatchObject({ currencies: [{ usedMinor: 10_000 }] });
    expect(refusedBy(await limits.judge(chargeOf('c', 1)))).toBe('per_card_per_day');
  });
});
