import { describe, expect, it } from 'vitest';
import { chargeLimits, claimTimes } from '../../../src/domain/charge.ts';
import { defaultRetryRule } from '../../../src/domain/decline-reason.ts';
import { StoreUnavailable } from '../../../src/domain/failure.ts';
import { createCardHistory } from '../../../src/features/charge/card-history.ts';
import { accountOf } from '../../support/account.ts';
import { sealer } from '../house.ts';
import { card, claimOf, day, minute, ref, start, till, twinMs } from '../till.ts';

// Cases that the model (`card-history-model.test.ts`) leaves out.

const refused = (kind: string) => ({ kind: 'refused', refusal: { kind } });

describe('the history of a card', () => {
  it('throws, and claims nothing, if the charge can’t be read', async () => {
    const { clock, store, history } = till();
    await history.claim(claimOf('a'));
    clock.nowMs += claimTimes.lostMs;
    const before = await store.read(`card:${card}`);
    const account = accountOf({ store, sealer, now: () => clock.nowMs });
    const blind = createCardHistory(account, {
      rule: defaultRetryRule,
      twinMs,
      isUnsettled: () => Promise.reject(new StoreUnavailable('away')),
    });
    await expect(blind.claim(claimOf('b', 1))).rejects.toThrow(StoreUnavailable);
    await expect(blind.mayTry(card)).rejects.toThrow(StoreUnavailable);
    expect(await store.read(`card:${card}`)).toEqual(before);
  });

  it('leaves a charge enough time to be sent, and a minute more for differing clocks', () => {
    const { renewMs, lostMs } = claimTimes;
    expect(renewMs + chargeLimits.resendMs + chargeLimits.leaveMs + minute).toBeLessThan(lostMs);
  });
  it('counts a decline after an approval, also on a slow clock or in the same millisecond', async () => {
    const { clock, history, begin } = till();
    await begin(claimOf('a', 1));
    await begin(claimOf('b', 2));
    await history.settle(card, ref('a'), 'approved');
    clock.nowMs -= 5_000;
    await history.settle(card, ref('b'), 'declined');
    clock.nowMs += 5_000;
    expect((await history.mayTry(card)).kind).toBe('on_hold');
  });

  it('is forgotten exactly when nothing in it counts any more', async () => {
    const { clock, store, run } = till();
    await run('a', 'declined');
    clock.nowMs = start + 30 * day - 1;
    expect(await store.read(`card:${card}`)).toBeDefined();
    clock.nowMs += 1;
    expect(await store.read(`card:${card}`)).toBeUndefined();
  });

  it('is never forgotten while a charge of the card is open', async () => {
    const { clock, store, begin, history } = till();
    await begin(claimOf('a'));
    await begin(claimOf('b', 1));
    await history.settle(card, ref('b'), 'approved');
    clock.nowMs += 10 * 365 * day;
    expect(await store.read(`card:${card}`)).toBeDefined();
  });

  it('lets a second person override a hold, but no other obstacle', async () => {
    const { run, begin, history } = till();
    const overridden = async (reference: string, minor: number) =>
      await begin(claimOf(reference, minor, { overridesRest: true }));
    await run('paid', 'approved', 1);
    await run('a', 'declined', 2);
    expect(await begin(claimOf('b', 2))).toMatchObject(refused('on_hold'));
    expect(await overridden('b', 1)).toMatchObject({ kind: 'twin', twins: [{ reference: 'paid' }] });
    expect(await overridden('b', 2)).toEqual({ kind: 'claimed' });
    expect(await overridden('c', 3)).toMatchObject(refused('under_way'));
    await history.settle(card, ref('b'), 'declined');
    expect(await overridden('c', 3)).toEqual({ kind: 'claimed' });
    await history.settle(card, ref('c'), 'declined');
    expect(await overridden('d', 4)).toMatchObject(refused('stopped'));
    await history.settle(card, ref('c'), 'three_d_secure');
    expect(await overridden('d', 4)).toMatchObject(refused('save_again'));
  });

  it.each([twinMs, 0])(
    'shows a charge under review before each equal one, at any age (%i)',
    async (usualMs) => {
      const { clock, store, run } = till();
      await run('unsure', 'review');
      clock.nowMs += 20 * day;
      const account = accountOf({ store, sealer, now: () => clock.nowMs });
      const rules = { rule: defaultRetryRule, twinMs: usualMs, isUnsettled: async () => false };
      const history = createCardHistory(account, rules);
      expect(await history.judge(claimOf('other', 1))).toEqual({ kind: 'claimed' });
      const twins = [{ reference: ref('unsure'), by: 'U1', at: start, outcome: 'review' }];
      expect(await history.claim(claimOf('again'))).toEqual({ kind: 'twin', twins });
      const seen = claimOf('again', undefined, { despite: ['unsure (review)'] });
      expect((await history.judge(seen)).kind).toBe('claimed');
      // Whoever accepted the doubt has not accepted that it was paid.
      await history.settle(card, ref('unsure'), 'approved');
      expect((await history.judge(seen)).kind).toBe(usualMs === 0 ? 'claimed' : 'twin');
      await history.settle(card, ref('unsure'), 'review');
      expect(await history.claim(seen)).toEqual({ kind: 'claimed' });
    },
  );

  it('refuses to charge a card whose history can’t be read', async () => {
    const { store, history } = till();
    await store.create(`card:${card}`, sealer.seal(`card:${card}`, '[{"outcome":"maybe"}]'));
    await expect(history.claim(claimOf('a'))).rejects.toThrow('outcome');
    await expect(history.mayTry(card)).rejects.toThrow('outcome');
  });
});
