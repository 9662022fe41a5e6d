import { randomUUID } from 'node:crypto';
import type { Approval } from '../../domain/approval.ts';
import { approvalId } from '../../records/reference-of.ts';
import type { ApprovalGate } from '../../domain/approval-desk.ts';

export type Redelivery =
  /** How many messages are work again because of this very call. */
  { kind: 'again'; messages: number } | { kind: 'awaiting_approval'; approval: Approval };

/**
 * Delivers again what Slack refused for a channel, or asks a second person whether to. While a request for the
 * channel is open there is no second one; pressed twice at the same moment there may be two, and done twice it is
 * the same as once. Throws StoreUnavailable.
 */
export async function askToRedrive(
  deps: { approvals?: ApprovalGate | undefined; deliverAgain: (channel: string) => Promise<number> },
  channel: string,
  by: string,
): Promise<Redelivery> {
  const need = deps.approvals?.needFor({ kind: 'redrive' });
  if (!deps.approvals || !need) return { kind: 'again', messages: await deps.deliverAgain(channel) };
  const { desk } = deps.approvals;
  const open = (await desk.waiting()).find(
    ({ shown }) => shown.kind === 'redrive' && shown.channel === channel,
  );
  if (open) return { kind: 'awaiting_approval', approval: open };
  const id = approvalId(`redrive:${channel}:${randomUUID()}`);
  const approval = await desk.request({ id, terms: { kind: 'redrive', channel }, by, ...need });
  return { kind: 'awaiting_approval', approval };
}
