import { describe, expect, it } from 'vitest';
import type { Approval } from '../../../src/domain/approval.ts';
import { askToRedrive } from '../../../src/features/approvals/approvals.ts';
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
    const ask = (by: string) => askToRedrive(process.gate, process.approvals, { channel: 'C0ALERTS1', by });
    const first = await ask(ada);
    expect(await ask(bola)).toEqual(first);
    if (!first) throw new Error('not asked');
    await approve(process, first);
    expect(world.redriven).toEqual(['C0ALERTS1']);
    expect(await process.approvals.find(first.id)).toMatchObject({
      state: { kind: 'executed', result: '3 messages are on their way again.' },
    });
    expect(await ask(ada)).not.toEqual(first);
  });

  it('is not asked about without a rule', async () => {
    const world = openApprovalWorld('approved', []);
    const { gate, approvals } = startApprovals(world);
    expect(await askToRedrive(gate, approvals, { channel: 'C0ALERTS1', by: ada })).toBeUndefined();
  });
});
