import { describe, expect, it } from 'vitest';
import { chargeLimits, claimTimes } from '../../../src/domain/charge.ts';
import { defaultRetryRule } from '../../../src/domain/decline-reason.ts';
import { StoreUnavailable } from '../../../src/domain/failure.ts';
import { createCardHistory } from '../../../src/features/charge/card-history.ts';
import { sealer } from '../house.ts';
import { card, claimOf, day, hour, minute, ref, start, till, twinMs } from '../till.ts';

describe('claim', () => {
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
        sealer,
        wait: () => Promise.resolve(),
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

  it('holds a reference, times, an outcome, a user and the money, and nothing else', async () => {
    const { store, run } = till();
    await run('a', 'approved');
    const record: unknown = JSON.parse(
      sealer.open(`card:${card}`, (await store.read(`card:${card}`))?.value ?? ''),
    );
    const attempt = { reference: 'a', begunAt: start, at: start, outcome: 'approved' };
    expect(record).toEqual([{ ...attempt, by: 'U1', minor: 500_000, currency: 'NGN' }]);
  });

  it('lets no card be charged whose history cannot be read', async () => {
    const { store, history } = till();
    await store.create(`card:${card}`, sealer.seal(`card:${card}`, '[{"outcome":"maybe"}]'));
    await expect(history.claim(claimOf('a'))).rejects.toThrow('outcome');
    await expect(history.mayTry(card)).rejects.toThrow('outcome');
  });
});
