import { expect, it, onTestFinished } from 'vitest';
import { defaultRetryRule } from '../../../src/domain/decline-reason.ts';
import { createCardHistory, type CardHistory } from '../../../src/features/charge/card-history.ts';
import { accountOf } from '../../support/account.ts';
import { sealer } from '../house.ts';
import { onBothStores } from '../two-stores.ts';
import { card, claimOf, ref, twinMs } from '../till.ts';

const isUnsettled = () => Promise.resolve(false);

async function claimFifty(histories: CardHistory[], minorOf: (index: number) => number): Promise<number> {
  const claims = Array.from({ length: 50 }, (_, index) =>
    histories[index % 2]!.claim(claimOf(`pay-${index}`, minorOf(index))),
  );
  const results = await Promise.all(claims);
  expect(results.every(({ kind }) => kind !== 'twin')).toBe(true);
  return results.filter(({ kind }) => kind === 'claimed').length;
}

onBothStores('the history of a card', (open) => {
  async function replicas(rule = defaultRetryRule): Promise<CardHistory[]> {
    const { one, two, close } = await open();
    onTestFinished(close);
    return [one, two].map((store) =>
      createCardHistory(accountOf({ store, sealer, now: Date.now }), { rule, twinMs, isUnsettled }),
    );
  }
  it('allows one of fifty claims for the same money that two replicas make at once', async () => {
    expect(await claimFifty(await replicas(), () => 500_000)).toBe(1);
  });

  it('allows as many of fifty different claims as the card has attempts', async () => {
    expect(await claimFifty(await replicas(), (index) => index + 1)).toBe(defaultRetryRule.attempts);
    expect(await claimFifty(await replicas(), (index) => (index % 2) + 1)).toBe(2);
  });

  it('allows one of fifty claims on a card whose hold after a decline is over', async () => {
    const histories = await replicas({ ...defaultRetryRule, waitMs: 0 });
    await histories[0]!.claim(claimOf('declined', 99_999));
    await histories[1]!.settle(card, ref('declined'), 'declined');
    expect(await claimFifty(histories, (index) => index + 1)).toBe(1);
  });

  it('answers *claimed* to all fifty claims of the same dialogue', async () => {
    const histories = await replicas();
    const claims = Array.from({ length: 50 }, (_, index) => histories[index % 2]!.claim(claimOf('pay-same')));
    expect((await Promise.all(claims)).every(({ kind }) => kind === 'claimed')).toBe(true);
  });
});
