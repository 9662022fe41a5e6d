import type { ApprovalDesk } from './approval-desk.ts';
import type { MayRun } from '../../slack/command.ts';
import type { ChargeDeps } from '../charge/charge-deps.ts';

export type ApprovalDeps = Pick<
  ChargeDeps,
  'environment' | 'account' | 'isMixed' | 'now' | 'ledger' | 'currencies' | 'approvalFrom'
> & {
  approvals: ApprovalDesk;
  mayRun: MayRun;
};
