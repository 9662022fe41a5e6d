import type { Approval } from '../../domain/approval.ts';
import { headline, richText, words } from '../blocks.ts';
import type { Modal, SlackMessage } from '../message.ts';
import { wordsModal } from '../modals.ts';

/** What stands where a charge or a change would, as long as a second person has not decided. */
export function awaitingApprovalMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('🟡 Sent for approval', []);
  return { text, blocks: [block, richText([words(`${approval.rule}. Nothing was sent yet.`)])] };
}

export function awaitingApprovalModal(approval: Approval): Modal {
  return wordsModal('Needs approval', awaitingApprovalMessage(approval));
}
