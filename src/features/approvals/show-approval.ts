import type { WebClient } from '@slack/web-api';
import type { Approval } from '../../domain/approval.ts';
import type { Log } from '../../log.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import type { MerchantIds } from '../../slack/merchant-ids.ts';
import { updateModal } from '../../slack/kit/modals.ts';
import { requestModal } from './approval-modals.ts';

export type ShowApproval = (
  approval: Approval,
  asked: number,
  views: readonly { id: string }[],
) => Promise<void>;

/** Puts a request as it is into the windows that wait for it. Never throws: a window may be closed at any time. */
export function createShowApproval(deps: {
  client: WebClient;
  place: ChargePlace;
  log: Log;
  /** The ids of an account’s modals. */
  ids?: MerchantIds | undefined;
}): ShowApproval {
  return async function show(approval, asked, views) {
    const made = requestModal(approval, asked, deps.place);
    const modal = deps.ids?.modal(made) ?? made;
    await Promise.all(views.map(({ id: viewId }) => updateModal(deps.client, { viewId, modal }, deps.log)));
  };
}
