import type { HoldersOf } from '../domain/standing.ts';
import type { ApprovalTelling } from '../operations/approval/tell-approval.ts';
import { createApprovalTelling, type TellingParts } from './approval-telling.ts';
import { createApprovalsOf, type ApprovalParts, type Approvals } from './approvals.ts';
import type { Outside } from './outside.ts';

type FourEyesParts = Omit<ApprovalParts, 'tell'> &
  Omit<TellingParts, 'approvers' | 'find'> & { holdersOf: HoldersOf };

/** Deciding and telling, which ask each other: what is decided is told, and what is told is what was decided. */
export function createFourEyes(
  outside: Outside,
  { holdersOf, ...parts }: FourEyesParts,
): { telling: ApprovalTelling; approvals: Approvals } {
  const telling = createApprovalTelling(outside, {
    ...parts,
    approvers: () => holdersOf('approve'),
    find: (id) => approvals.desk.find(id),
  });
  const approvals: Approvals = createApprovalsOf(outside, { ...parts, tell: telling });
  return { telling, approvals };
}
