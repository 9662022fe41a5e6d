import { describe, expect, it } from 'vitest';
import { chargeLimits } from '../../../src/domain/charge-state.ts';
import { defaultRetryRule } from '../../../src/domain/retry-rule.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { claimTimes } from '../../../src/domain/charge-state.ts';
import { createCardHistory } from '../../../src/operations/charge/card-history.ts';
import { card, claimOf, day, hour, minute, ref, start, till, twinMs } from '../till.ts';

describe('claim', () => {
  it('claims a card that was never charged, and again for the same reference without a change', async () => {
    const { store, history, other } = till();
    expect(await history.claim(claimOf('a'))).toEqual({ kind: 'claimed' });
    const before = await store.read(`card:${card}`);
    expect(await other.claim(claimOf('a'))).toEqual({ kind: 'claimed' });
    expect(await store.read(`card:${card}`)).toEqual(before);
  });

  it.each(['approved', 'declined', 'three_d_secure', 'cleared'] as const)(
    'changes nothing for a reference that is %s by now',
    async (outcome) => {
      const { clock, store, history, run } = till();
      await run('a', outcome);
      const before = await store.read(`card:${card}`);
      clock.nowMs += hour;
      expect(await history.claim(claimOf('a'))).toEqual({ kind: 'claimed' });
      expect(await store.read(`card:${card}`)).toEqual(before);
    },
  );

  it('keeps cards apart', async () => {
    const { history } = till();
    await history.claim(claimOf('a'));
    expect(await history.claim(claimOf('b', 500_000, { card: 'beef' }))).toEqual({ kind: 'claimed' });
  });

  describe('while the same amount is unsettled', () => {
    it('refuses as under way, naming who and when, whatever the person agreed to', async () => {
      const { clock, begin, other } = till();
      await begin(claimOf('a', 500_000, { by: 'U2' }));
      clock.nowMs += 3 * day;
      const refusal = { kind: 'under_way', reference: 'a', by: 'U2', at: start };
      expect(await other.claim(claimOf('b'))).toEqual({ kind: 'refused', refusal });
      expect(await other.claim(claimOf('c', 500_000, { despite: 'a' }))).toEqual({
        kind: 'refused',
        refusal,
      });
    });

    it('takes another amount or currency of a card without a decline', async () => {
      const { begin } = till();
      await begin(claimOf('a'));
      expect(await begin(claimOf('b', 500_001))).toEqual({ kind: 'claimed' });
      const dollars = { ...claimOf('c'), money: { minor: 500_000, currency: 'USD' } };
      expect(await begin(dollars)).toEqual({ kind: 'claimed' });
      expect(await begin(claimOf('d', 7))).toEqual({
        kind: 'refused',
        refusal: { kind: 'under_way', reference: 'a', by: 'U1', at: start },
      });
    });
  });

  describe('after the bank’s answer', () => {
    it('lets a declined card rest, then stops it after the last decline', async () => {
      const { clock, history, run } = till();
      await run('a', 'declined');
      const resting = { kind: 'resting', nextTryFrom: start + day, attemptsLeft: 2 };
      expect(await history.claim(claimOf('b', 1))).toEqual({ kind: 'refused', refusal: resting });
      clock.nowMs = start + day;
      await run('b', 'declined');
      clock.nowMs = start + 2 * day;
      await run('c', 'declined');
      clock.nowMs = start + 5 * day;
      const stopped = { kind: 'stopped', declines: 3, nextTryFrom: start + 30 * day };
      expect(await history.claim(claimOf('d'))).toEqual({ kind: 'refused', refusal: stopped });
      clock.nowMs = stopped.nextTryFrom;
      expect(await history.claim(claimOf('d'))).toEqual({ kind: 'claimed' });
    });

    it('refuses a second amount while one is open on a card that was declined', async () => {
      const { clock, history, begin, run } = till();
      await run('a', 'declined');
      clock.nowMs = start + day;
      await begin(claimOf('b', 1, { by: 'U2' }));
      expect(await history.claim(claimOf('c', 2))).toEqual({
        kind: 'refused',
        refusal: { kind: 'under_way', reference: 'b', by: 'U2', at: start + day },
      });
    });

    it('never charges a card again that met 3-D Secure, years later either', async () => {
      const { clock, history, begin, run } = till();
      await begin(claimOf('pending', 9));
      await run('a', 'three_d_secure', 8);
      await history.settle(card, ref('pending'), 'cleared');
      clock.nowMs += 3 * 365 * day;
      expect(await history.mayTry(card)).toEqual({ kind: 'save_again' });
      expect(await history.claim(claimOf('b'))).toEqual({ kind: 'refused', refusal: { kind: 'save_again' } });
    });

    it('refuses before it asks about a twin', async () => {
      const { history, run } = till();
      await run('a', 'declined');
      expect(await history.claim(claimOf('b', 500_000, { despite: 'a' }))).toMatchObject({
        kind: 'refused',
        refusal: { kind: 'resting' },
      });
    });
  });

  describe('after a twin', () => {
    it.each(['approved', 'cleared'] as const)(
      'asks after one that was %s, naming who and when',
      async (outcome) => {
        const { clock, begin, history, run } = till();
        await run('a', outcome);
        clock.nowMs += twinMs - 1;
        const twin = { reference: 'a', by: 'U1', at: start, outcome };
        expect(await history.claim(claimOf('b'))).toEqual({ kind: 'twin', twin });
        expect(await history.claim(claimOf('b', 500_000, { despite: 'z' }))).toEqual({ kind: 'twin', twin });
        expect(await begin(claimOf('b', 500_000, { despite: 'a' }))).toEqual({ kind: 'claimed' });
      },
    );

    it('asks nothing for another amount, nor once the time is over, counted from its beginning', async () => {
      const { clock, history, begin } = till();
      await begin(claimOf('a'));
      clock.nowMs += 9 * minute;
      await history.settle(card, ref('a'), 'approved');
      expect(await history.claim(claimOf('b', 1))).toEqual({ kind: 'claimed' });
      clock.nowMs += minute;
      expect(await history.claim(claimOf('c'))).toEqual({ kind: 'claimed' });
    });

    it('asks anew about a twin that the person was not shown', async () => {
      const { clock, history, begin, run } = till();
      await run('a', 'approved');
      clock.nowMs += minute;
      await begin(claimOf('b', 500_000, { despite: 'a' }));
      await history.settle(card, ref('b'), 'approved');
      expect(await history.claim(claimOf('c', 500_000, { despite: 'a' }))).toMatchObject({
        kind: 'twin',
        twin: { reference: 'b' },
      });
    });
  });

  describe('after a crash between claim and charge', () => {
    it('counts the lost attempt for five minutes, and clears it then', async () => {
      const { clock, history } = till();
      await history.claim(claimOf('lost'));
      clock.nowMs += claimTimes.lostMs - 1;
      expect(await history.claim(claimOf('b'))).toMatchObject({ refusal: { kind: 'under_way' } });
      clock.nowMs += 1;
      expect(await history.claim(claimOf('b', 1))).toEqual({ kind: 'claimed' });
      clock.nowMs += twinMs;
      expect(await history.claim(claimOf('c'))).toEqual({ kind: 'claimed' });
    });

    it('never clears one whose charge exists', async () => {
      const { clock, history, begin } = till();
      await begin(claimOf('a'));
      clock.nowMs += 100 * day;
      expect(await history.claim(claimOf('b'))).toMatchObject({ refusal: { kind: 'under_way' } });
    });

    it('claims nothing while it cannot be known whether the charge exists', async () => {
      const { clock, store, history } = till();
      await history.claim(claimOf('a'));
      clock.nowMs += claimTimes.lostMs;
      const before = await store.read(`card:${card}`);
      const blind = createCardHistory({
        store,
        rule: defaultRetryRule,
        twinMs,
        now: () => clock.nowMs,
        chargeExists: () => Promise.reject(new StoreUnavailable('away')),
      });
      await expect(blind.claim(claimOf('b', 1))).rejects.toThrow(StoreUnavailable);
      await expect(blind.mayTry(card)).rejects.toThrow(StoreUnavailable);
      expect(await store.read(`card:${card}`)).toEqual(before);
    });

    it('starts the five minutes anew when the same dialogue claims late, so that nobody clears what then leaves', async () => {
      const { clock, history, other } = till();
      await history.claim(claimOf('a'));
      clock.nowMs += claimTimes.lostMs - 1;
      expect(await history.claim(claimOf('a'))).toEqual({ kind: 'claimed' });
      clock.nowMs += claimTimes.lostMs - 1;
      expect(await other.claim(claimOf('b'))).toMatchObject({
        refusal: { kind: 'under_way', reference: 'a' },
      });
    });

    it('judges a dialogue anew whose lost claim gave way to another', async () => {
      const { clock, history, begin } = till();
      await history.claim(claimOf('a'));
      clock.nowMs += claimTimes.lostMs;
      await begin(claimOf('b', 500_000, { despite: 'a' }));
      expect(await history.claim(claimOf('a'))).toMatchObject({
        refusal: { kind: 'under_way', reference: 'b' },
      });
    });

    it('leaves a charge the time to leave, with more than a minute for clocks that differ', () => {
      const { renewMs, lostMs } = claimTimes;
      expect(renewMs + chargeLimits.resendMs + chargeLimits.leaveMs + minute).toBeLessThan(lostMs);
    });
  });
});

describe('settle', () => {
  it('keeps the first time of an outcome that is told again', async () => {
    const { clock, history, run } = till();
    await run('a', 'declined');
    clock.nowMs += 12 * hour;
    await history.settle(card, ref('a'), 'declined');
    expect(await history.mayTry(card)).toMatchObject({ kind: 'resting', nextTryFrom: start + day });
  });

  it('takes a correction: a decline that was money after all starts the count anew', async () => {
    const { history, run } = till();
    await run('a', 'declined');
    await history.settle(card, ref('a'), 'approved');
    expect(await history.mayTry(card)).toEqual({ kind: 'allowed', attemptsLeft: 3 });
  });

  it('counts a decline after an approval, though a slow clock or the same millisecond says otherwise', async () => {
    const { clock, history, begin } = till();
    await begin(claimOf('a', 1));
    await begin(claimOf('b', 2));
    await history.settle(card, ref('a'), 'approved');
    clock.nowMs -= 5_000;
    await history.settle(card, ref('b'), 'declined');
    clock.nowMs += 5_000;
    expect((await history.mayTry(card)).kind).toBe('resting');
  });

  it('changes nothing for an attempt or a card it does not know', async () => {
    const { store, history, run } = till();
    await history.settle(card, ref('a'), 'declined');
    expect(store.keys()).toEqual([]);
    await run('a', 'approved');
    await history.settle(card, ref('b'), 'declined');
    expect((await history.mayTry(card)).kind).toBe('allowed');
  });
});

describe('the record', () => {
  it('is forgotten when nothing in it counts any more, and not a moment sooner', async () => {
    const { clock, store, run } = till();
    await run('a', 'declined');
    clock.nowMs = start + 30 * day - 1;
    expect(await store.read(`card:${card}`)).toBeDefined();
    clock.nowMs += 1;
    expect(await store.read(`card:${card}`)).toBeUndefined();
  });

  it('is never forgotten while a charge of it is open', async () => {
    const { clock, store, begin, history } = till();
    await begin(claimOf('a'));
    await begin(claimOf('b', 1));
    await history.settle(card, ref('b'), 'approved');
    clock.nowMs += 10 * 365 * day;
    expect(await store.read(`card:${card}`)).toBeDefined();
  });

  it('holds only what still counts', async () => {
    const { clock, store, run } = till();
    for (let month = 0; month < 24; month += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await run(`pay-${month}`, month % 3 === 0 ? 'declined' : 'approved');
      clock.nowMs += 29 * day;
    }
    const value = (await store.read(`card:${card}`))?.value ?? '';
    expect(value.match(/pay-/g)).toHaveLength(2);
  });

  it('holds a reference, times, an outcome, a user and the money, and nothing else', async () => {
    const { store, run } = till();
    await run('a', 'approved');
    const record: unknown = JSON.parse((await store.read(`card:${card}`))?.value ?? '');
    const attempt = { reference: 'a', begunAt: start, at: start, outcome: 'approved' };
    expect(record).toEqual({ attempts: [{ ...attempt, by: 'U1', minor: 500_000, currency: 'NGN' }] });
  });

  it('lets no card be charged whose history cannot be read', async () => {
    const { store, history } = till();
    await store.create(`card:${card}`, '{"attempts":[{"outcome":"maybe"}]}');
    await expect(history.claim(claimOf('a'))).rejects.toThrow('outcome');
    await expect(history.mayTry(card)).rejects.toThrow('outcome');
  });
});

describe('what is under way with a card', () => {
  it('is every charge without an outcome, a lost claim left out, and telling it changes nothing', async () => {
    const { clock, store, history, begin, run } = till();
    expect(await history.underWay(card)).toEqual([]);
    await run('a', 'approved');
    await begin(claimOf('b', 1));
    await history.claim(claimOf('never-stored', 2));
    expect(await history.underWay(card)).toEqual(['b', 'never-stored']);
    const before = await store.read(`card:${card}`);
    clock.nowMs += claimTimes.lostMs;
    expect(await history.underWay(card)).toEqual(['b']);
    expect(await store.read(`card:${card}`)).toEqual(before);
    expect(await history.underWay('beef')).toEqual([]);
  });
});
