import { describe, expect, it } from 'vitest';
import type { Approval } from '../../../src/domain/approval.ts';
import { askToRedrive } from '../../../src/operations/approval/ask-to-redrive.ts';
import { openApprovalWorld, startApprovals, type ApprovalProcess } from '../approval-house.ts';
import { ada, bola, viewId } from '../charge-house.ts';

async function approve(process: ApprovalProcess, { id, termsHash }: Approval): Promise<void> {
  await process.approvals.approve({ id, by: bola, termsHash });
  await process.drained();
}

describe('a change of a card’s e-mail that needs a second person', () => {
  const change = {
    tokenKey: 'canary-token',
    card: {},
    currentEmail: 'a@example.com',
    newEmail: 'b@example.com',
  };

  async function begin(process: ApprovalProcess) {
    const draft = await process.cardEmails.keepDraft(viewId, change);
    const beginning = await process.cardEmails.begin({ viewId, draft, by: ada });
    if (beginning.kind !== 'awaiting_approval') throw new Error(beginning.kind);
    return { draft, approval: beginning.approval };
  }

  it('is asked of the service once, after the decision', async () => {
    const world = openApprovalWorld();
    const process = startApprovals(world);
    const { draft, approval } = await begin(process);
    expect(approval.id).toMatch(/^apr-/);
    expect(approval.shown).toMatchObject({ kind: 'card_email', newEmail: change.newEmail });
    expect(await process.cardEmails.begin({ viewId, draft, by: ada })).toEqual({
      kind: 'awaiting_approval',
      approval,
    });
    expect(world.emailChanges).toEqual([]);
    await approve(process, approval);
    expect(world.emailChanges).toEqual([change.newEmail]);
    expect(await process.approvals.find(approval.id)).toMatchObject({
      state: { kind: 'executed', result: 'The e-mail was changed.' },
    });
  });

  it('that the service did not make is stopped, and said to be', async () => {
    const world = openApprovalWorld();
    world.emailEnd = { kind: 'not_linked', message: undefined };
    const process = startApprovals(world);
    const { approval } = await begin(process);
    await approve(process, approval);
    expect((await process.approvals.find(approval.id))?.state).toMatchObject({
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
