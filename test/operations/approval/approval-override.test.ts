import { describe, expect, it } from 'vitest';
import { ada, hourMs, reference, submit, terms } from '../charge-house.ts';
import {
  approve,
  asked,
  openApprovalWorld,
  startApprovals,
  type ApprovalProcess,
  type ApprovalWorld,
} from '../approval-house.ts';

async function declinedOnce(world: ApprovalWorld): Promise<ApprovalProcess> {
  const process = startApprovals(world);
  await approve(process, await asked(process));
  expect(await process.desk.find(reference)).toMatchObject({ state: { kind: 'declined' } });
  world.clock.nowMs += hourMs;
  return process;
}

describe('a card on hold after a decline', () => {
  it('is charged all the same once somebody else lets it, and then only it', async () => {
    const world = openApprovalWorld('declined', [{ what: 'retry', needed: 1 }]);
    const process = startApprovals(world);
    const first = await submit(process);
    if (first.kind === 'begun') await first.carryOn();
    await process.drained();
    world.clock.nowMs += hourMs;
    const second = 'V0SECOND1';
    expect(await submit(process, second)).toMatchObject({
      kind: 'refused',
      refusal: { kind: 'resting' },
    });
    // Said before anybody presses, with who can let it be charged all the same.
    expect(await process.desk.review({ viewId: second, terms, by: ada })).toMatchObject({
      kind: 'ready',
      hold: { kind: 'resting' },
      approval: { rule: 'Charging a card on hold needs one approver' },
    });
    const [card = ''] = [await process.desk.find(reference).then((charge) => charge?.card)];
    expect(await process.desk.holdOf({ card, by: ada, currency: 'NGN' })).toMatchObject({ kind: 'resting' });
    const draft = await process.desk.keepDraft(second, terms);
    const result = await process.desk.submit({ viewId: second, draft, by: ada, override: true });
    expect(result).toMatchObject({
      kind: 'awaiting_approval',
      approval: {
        rule: 'Charging a card on hold needs one approver',
        shown: { overridesRest: true },
      },
    });
    if (result.kind !== 'awaiting_approval') return;
    expect(world.bank.posts).toHaveLength(1);
    await approve(process, result.approval);
    expect(world.bank.posts).toEqual([reference, result.approval.id]);
  });

  it('offers no override without a rule for it, and none is had by asking', async () => {
    const world = openApprovalWorld('declined', [
      { what: 'charge', currency: 'NGN', fromMinor: 0, needed: 1 },
    ]);
    const process = await declinedOnce(world);
    const draft = await process.desk.keepDraft('V0SECOND1', terms);
    const result = await process.desk.submit({ viewId: 'V0SECOND1', draft, by: ada, override: true });
    expect(result).toEqual({ kind: 'refused', refusal: expect.objectContaining({ kind: 'resting' }) });
    const review = await process.desk.review({ viewId: 'V0SECOND1', terms, by: ada });
    expect(review).toMatchObject({ kind: 'ready', hold: { kind: 'resting' } });
    expect(review).not.toHaveProperty('approval');
  });

  it('is not asked about when it could not be charged anyway', async () => {
    const process = await declinedOnce(openApprovalWorld('declined'));
    expect(await submit(process, 'V0SECOND1')).toMatchObject({ kind: 'refused' });
    expect(await process.approvals.waiting()).toEqual([]);
  });
});
