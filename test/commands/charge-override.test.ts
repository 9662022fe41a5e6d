import { expect, it } from 'vitest';
import { chargeModals } from '../../src/commands/charge/charge-modals.ts';
import { overrideField, overrideModalId, termsMetadata } from '../../src/slack/charge/terms-modal.ts';
import { openApprovalWorld, startApprovals } from '../operations/approval-house.ts';
import { ada, bola, submit, terms } from '../operations/charge-house.ts';
import { textOf } from './shown-modal.ts';

it('an override that is submitted twice is one request, and is called sent both times', async () => {
  const process = startApprovals(openApprovalWorld('declined'));
  const first = await submit(process);
  if (first.kind !== 'awaiting_approval') throw new Error(first.kind);
  const { id, termsHash } = first.approval;
  await process.approvals.approve({ id, by: bola, termsHash });
  await process.drained();

  const { desk } = process;
  const draft = await desk.keepDraft('V0SECOND1', { ...terms, money: { minor: 1_300_000, currency: 'NGN' } });
  const modal = chargeModals({
    desk,
    environment: 'sandbox',
    account: 'main account',
    currencies: ['NGN'],
    ledger: undefined,
    now: () => 0,
  }).find(({ callbackId }) => callbackId === overrideModalId);
  const submission = {
    caller: { userId: ada },
    viewId: 'V0SECOND1',
    privateMetadata: termsMetadata({ draft }),
    values: { [overrideField]: 'The limit was raised' },
  };
  for (const _ of ['once', 'twice']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
    expect(textOf(await modal?.submit(submission))).toContain('Needs approval');
  }
  expect(await process.approvals.waiting()).toHaveLength(1);
});
