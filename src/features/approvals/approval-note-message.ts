import type { ActionsBlock } from '@slack/types';
import type { Approval, ApprovalNote } from '../../domain/approval.ts';
import { actions, code, moment, richText, type Run } from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/counted.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { repeatLine, type AboutMessage } from '../../slack/words/repeat-line.ts';
import { quoted } from '../../slack/words/evidence.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { approvalFoot, askAgainButton, closedLines, type ApprovalCopy } from './approval-message.ts';
import { approvalHeadline, approvalState, nothingBefore, people } from './approval-words.ts';

const eventType = 'payops_approval_note';

/** One step of a request: a line below its card, or for one person. */
export function approvalNoteMessage(
  what: ApprovalNote,
  approval: Approval,
  place: ChargePlace,
  about: AboutMessage & ApprovalCopy,
): SlackMessage {
  const { text, block } = approvalHeadline(approval, noteState(what, approval));
  return {
    text,
    blocks: [
      block,
      ...noteLines(what, approval, about.asked),
      ...noteButtons(what, approval, about.to),
      approvalFoot(approval, place),
      ...repeatLine(about.mayBeRepeat),
    ],
    metadata: { event_type: eventType, event_payload: { key: about.key } },
  };
}

/** In the words of then: it may have gone on since. */
function noteState(what: ApprovalNote, approval: Approval): string {
  switch (what) {
    case 'asked':
    case 'waiting':
      return '🟡 Sent for approval';
    case 'approved_one':
      return `🟡 ${approval.approvals.length} of ${approval.needed} approved`;
    case 'approved':
      return '🔵 Approved';
    case 'expires_soon':
      return '⏰ Expires soon, not decided yet';
    default:
      return approvalState(approval);
  }
}

function noteLines(what: ApprovalNote, approval: Approval, asked: number): MessageBlock[] {
  const { state, shown, approvals, needed, expiresAtMs } = approval;
  switch (what) {
    case 'asked':
    case 'waiting': {
      const who = asked === 0 ? '' : ` to ${counted(asked, 'approver')}`;
      return lines(plain(`Sent${who}. ${nothingBefore(shown)} Expires `, moment(expiresAtMs), '.'));
    }
    case 'approved_one':
      return lines(
        by(approvals.slice(-1).map(({ by: one }) => one)),
        plain(`${counted(needed - approvals.length, 'more approval')} needed, from somebody else.`),
      );
    case 'approved':
      return lines(by(approvals.map(({ by: one }) => one)), plain('It starts now.'));
    case 'expires_soon':
      return lines(
        labelled('Expires', moment(expiresAtMs), '. ', nothingBefore(shown)),
        labelled('Next', code('/pay approvals')),
      );
    case 'refused':
      if (state.kind !== 'refused') return [];
      return [...lines(by([state.by])), ...quoted('Why:', state.reason)];
    default:
      return lines(...closedLines(approval));
  }
}

function by(userIds: readonly string[]): Run[] {
  return plain('By ', ...people(userIds), '.');
}

function lines(...all: Run[][]): MessageBlock[] {
  const filled = all.filter((line) => line.length > 0);
  return filled.length === 0 ? [] : [richText(...filled)];
}

/** *Ask again* stands where whoever asked is told that nobody decided. */
function noteButtons(what: ApprovalNote, approval: Approval, to: ApprovalCopy['to']): ActionsBlock[] {
  return what === 'expired' && to === 'requester' ? [actions(askAgainButton(approval))] : [];
}
