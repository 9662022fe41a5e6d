import {
  createTellApproval,
  type ApprovalTelling,
  type TellApprovalDeps,
} from '../operations/approval/tell-approval.ts';
import { createShowApproval } from '../slack/show-approval.ts';
import type { MerchantIds } from '../slack/merchant-ids.ts';
import type { SlackClients } from '../slack/workspace.ts';
import type { Kept } from './kept.ts';
import { chargePlace } from './merchants.ts';
import type { Outside } from './outside.ts';

export type TellingParts = Pick<TellApprovalDeps, 'approvers' | 'find' | 'wake'> & {
  kept: Kept;
  clients: SlackClients;
  /** The ids of its windows; undefined in a bot that knows one account alone. */
  ids: MerchantIds | undefined;
};

/** Where requests for a second person are told. */
export function createApprovalTelling({ config, log, now }: Outside, parts: TellingParts): ApprovalTelling {
  const { kept, clients, ids, ...rest } = parts;
  return createTellApproval({
    ...rest,
    store: kept.store,
    sealer: kept.sealer,
    channel: config.policy.approvals?.channel,
    show: createShowApproval({ client: clients.interactive, place: chargePlace(config), log, ids }),
    rememberMs: config.chargeRememberDays * 86_400_000,
    now,
  });
}
