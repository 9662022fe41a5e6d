import type { WebClient } from '@slack/web-api';
import type { Approval } from '../../domain/approval.ts';
import type { Log } from '../../log.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { updateModal } from '../../slack/kit/modals.ts';
import { requestModal } from './approval-modals.ts';

export type ShowApproval = (
  approval: Approval,
  asked: number,
  views: readonly { id: string }[],
) => Promise<void>;

/** Puts a request as it is into the windows that wait for it. Never throws: a window may be closed at any time. */
export function createShowApproval(deps: { client: WebClient; place: ChargePlace; log: Log }): ShowApproval {
  return async function show(approval, asked, views) {
    const modal = requestModal(approval, asked, deps.place);
    await Promise.all(views.map(({ id: viewId }) => updateModal(deps.client, { viewId, modal }, deps.log)));
  };
}
