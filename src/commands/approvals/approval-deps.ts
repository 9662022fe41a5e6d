import type { ApprovalDesk } from '../../operations/approval-desk.ts';
import type { ApprovalTelling } from '../../operations/tell-approval.ts';
import type { MayRun } from '../../slack/command.ts';
import type { ChargeDeps } from '../charge/charge-deps.ts';

export type ApprovalDeps = Pick<
  ChargeDeps,
  'environment' | 'account' | 'isMixed' | 'now' | 'ledger' | 'currencies'
> & {
  approvals: ApprovalDesk;
  mayRun: MayRun;
};

/** What shows a request where it was asked for; absent where nothing needs a second person. */
export type AwaitDeps = Pick<ChargeDeps, 'environment' | 'account' | 'isMixed'> & {
  approvalTelling?: Pick<ApprovalTelling, 'askedOf' | 'watch'> | undefined;
};
