import type { Approval } from '../../domain/approval.ts';
import type { ApprovalDesk } from '../approvals/approval-desk.ts';
import { requestModal } from '../approvals/approval-modals.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import type { Caller, ViewAnswer } from '../../slack/command.ts';

export type AwaitDeps = ChargePlace & {
  /** Absent where nothing needs a second person. */
  approvalTelling?: Pick<ApprovalDesk, 'askedOf' | 'watch'> | undefined;
};

/**
 * The window says that it was sent for approval, and from then on what is decided; once a charge is begun it becomes the
 * charge's own. It watches only once Slack has this answer, which would overwrite what came meanwhile.
 */
export async function awaitDecision(
  { approvalTelling, ...place }: AwaitDeps,
  approval: Approval,
  { viewId, caller }: { viewId: string; caller: Caller },
): Promise<ViewAnswer> {
  const asked = (await approvalTelling?.askedOf(approval.id)) ?? 0;
  return {
    kind: 'update',
    modal: requestModal(approval, asked, place),
    carryOn: async () => await approvalTelling?.watch(approval, { id: viewId, userId: caller.userId }),
  };
}
