import { describe, expect, it } from 'vitest';
import type { Approval } from '../../../src/domain/approval.ts';
import { askToRedrive } from '../../../src/features/approvals/ask-to-redrive.ts';
import { openApprovalWorld, startApprovals, type ApprovalProcess } from '../approval-house.ts';
import { ada, bola, viewId } from '../charge-house.ts';

async function approve(process: ApprovalProcess, { id, termsHash }: Approval): Promise<void> {
  await process.approvals.approve({ id, by: bola, termsHash });
  await process.drained();
}

describe('a change of a card’s e-mail that needs a second person', () => {
  it('that the service did not make is stopped, and said to be', async () => {
    const world = openApprovalWorld();
    world.emailAnswer = { kind: 'not_linked', message: undefined };
    const process = startApprovals(world);
    const emails = { currentEmail: 'a@example.com', newEmail: 'b@example.com' };
    const draft = await process.cardEmails.keepDraft(viewId, {
      tokenKey: 'canary-token',
      card: {},
      ...emails,
    });
    const asked = await process.cardEmails.begin({ viewId, draft, by: ada });
    if (asked.kind !== 'awaiting_approval') throw new Error(asked.kind);
    await approve(process, asked.approval);
    expect((await process.approvals.find(asked.approval.id))?.state).toMatchObject({
      kind: 'stopped',
      why: expect.stringContaining('nothing was changed'),
    });
  });
});

describe('delivering again what needs a second person', () => {
  it('is asked about once while a request is open, and done once it is approved', async () => {
    const world = openApprovalWorld();
    const process = startApprovals(world);
    const deps = { approvals: process.gate, deliverAgain: () => Promise.reject(new Error('not asked')) };
    const first = await askToRedrive(deps, 'C0ALERTS1', ada);
    const again = await askToRedrive(deps, 'C0ALERTS1', bola);
    expect(again).toEqual(first);
    if (first.kind !== 'awaiting_approval') throw new Error(first.kind);
    await approve(process, first.approval);
    expect(world.redriven).toEqual(['C0ALERTS1']);
    expect(await process.approvals.find(first.approval.id)).toMatchObject({
      state: { kind: 'executed', result: '3 messages are on their way again.' },
    });
    expect(await askToRedrive(deps, 'C0ALERTS1', ada)).not.toEqual(first);
  });

  it('is done at once without a rule', async () => {
    expect(await askToRedrive({ deliverAgain: async () => 2 }, 'C0ALERTS1', ada)).toEqual({
      kind: 'again',
      messages: 2,
    });
  });
});
