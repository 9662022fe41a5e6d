import type { ActionsBlock, Button, RichTextBlock } from '@slack/types';
import type { Approval } from '../../domain/approval.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import {
  actions,
  button,
  confirmDialog,
  context,
  fields,
  moment,
  person,
  plainText,
  richText,
  type Run,
} from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/counted.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { stateWord } from '../../slack/words/state-words.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { repeatLine, type AboutMessage } from '../../slack/words/repeat-line.ts';
import { moneyPlaceWords, placeAlone, quoted } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { outsideText } from '../../slack/kit/text.ts';
import { approvalActions, requestValue } from './approval-actions.ts';
import {
  approvalHeadline,
  approveWords,
  decidedLine,
  nothingBefore,
  nothingDone,
  people,
  reasonQuoted,
  ruleWords,
  restOfWhat,
  whatSentence,
} from './approval-words.ts';

const eventType = 'payops_approval';
const longestResult = 300;

/**
 * Whose copy of the card it is: everybody’s in the channel, one of an approver, or that of whoever asked, who cannot
 * decide. `asked`: how many people can; 0 where that could not be found out.
 */
export type ApprovalCopy = { to: 'channel' | 'approver' | 'requester'; asked: number };

/**
 * The card of a request, in one of its places; the same request gives the same card. A closed one has neither buttons
 * nor the details of how to decide.
 */
export function approvalMessage(
  approval: Approval,
  place: ChargePlace,
  about: AboutMessage & ApprovalCopy & { charge?: ChargeSeen },
): SlackMessage {
  const { charge } = about;
  const { text, block } = charge ? approvalHeadline(approval, stateWord(charge)) : approvalHeadline(approval);
  return {
    text,
    blocks: [
      block,
      ...approvalBody(approval, about),
      ...approvalButtons(approval, about.to),
      approvalFoot(approval, place),
      ...repeatLine(about.mayBeRepeat),
    ],
    metadata: { event_type: eventType, event_payload: { key: about.key } },
  };
}

/** What stands below the first line, wherever it is shown. */
export function approvalBody(
  approval: Approval,
  { to, asked, charge }: ApprovalCopy & { charge?: ChargeSeen },
): RichTextBlock[] {
  const isOpen = approval.state.kind === 'waiting';
  return [
    ...(isOpen
      ? openLines(approval, { to, asked })
      : [richText(...(charge ? decidedLines(approval) : closedLines(approval)))]),
    ...closedReason(approval),
    ...(isOpen ? openFields(approval, to) : charge ? [] : closedFields(approval, to)),
    ...(isOpen && to !== 'requester' ? reasonQuoted(approval.shown) : []),
  ];
}

function openLines(approval: Approval, { to, asked }: ApprovalCopy): RichTextBlock[] {
  if (to !== 'requester') return [];
  const { shown, needed } = approval;
  const who = asked === 0 ? 'the approvers' : counted(asked, 'approver');
  const enough = needed > 1 ? `; ${needed} must approve` : '';
  return [
    richText(
      plain(`Sent to ${who}${enough}. ${nothingBefore(shown)} Expires `, moment(approval.expiresAtMs), '.'),
    ),
  ];
}

/** What decides. Whoever asked knows it, and reads who has approved. */
function openFields(approval: Approval, to: ApprovalCopy['to']): RichTextBlock[] {
  const { approvals, expiresAtMs } = approval;
  const approvedBy = approvals.length === 0 ? undefined : people(approvals.map(({ by }) => by));
  if (to === 'requester') return fields({ 'Approved by': approvedBy });
  return fields({
    ...restOfWhat(approval.shown),
    'Asked by': [person(approval.by)],
    Rule: ruleWords(approval),
    'Approved by': approvedBy,
    Expires: [moment(expiresAtMs)],
  });
}

function closedFields(approval: Approval, to: ApprovalCopy['to']): RichTextBlock[] {
  return fields({ 'Asked by': to === 'requester' ? undefined : [person(approval.by)] });
}

/** Who decided; what came of the charge stands in the first line. */
function decidedLines(approval: Approval): Run[][] {
  return [[...decidedLine(approval), ...plain('; asked by ', person(approval.by), '.')]];
}

/** What became of it, who decided, and what happens next. */
export function closedLines(approval: Approval): Run[][] {
  const { state, shown } = approval;
  const decided = [decidedLine(approval)].filter((line) => line.length > 0);
  switch (state.kind) {
    case 'waiting':
      return [];
    case 'approved':
      return [...decided, plain('It starts now.')];
    case 'executed':
      return [...decided, ...executedLines(approval, state.result)];
    case 'stopped':
      return [
        ...decided,
        plain(nothingDone(shown)),
        labelled('Why', outsideText(state.why, longestResult) || '–'),
      ];
    case 'refused':
    case 'expired':
    case 'withdrawn':
      return [...decided, plain(nothingDone(shown))];
  }
}

function executedLines({ shown }: Approval, result: string): Run[][] {
  const said = outsideText(result, longestResult);
  const became = said === '' ? [] : [labelled('Result', said)];
  if (shown.kind !== 'charge') return became;
  return [plain('The charge was started. Look its reference up.')];
}

function closedReason({ state }: Approval): RichTextBlock[] {
  return state.kind === 'refused' ? quoted('Why:', state.reason) : [];
}

/** Only while it waits; of whoever asked their own. */
function approvalButtons(approval: Approval, to: ApprovalCopy['to']): ActionsBlock[] {
  if (approval.state.kind === 'waiting') {
    return [to === 'requester' ? actions(withdrawButton(approval)) : actions(...decideButtons(approval))];
  }
  return approval.state.kind === 'expired' && to === 'requester' ? [actions(askAgainButton(approval))] : [];
}

/** *Approve* asks once more, in words that name amount and object. */
export function decideButtons(approval: Approval): Button[] {
  const { shown, needed, approvals } = approval;
  const value = requestValue(approval);
  const left = needed - approvals.length - 1;
  const next = left > 0 ? ` ${counted(left, 'more approval')} needed after yours.` : ' It starts at once.';
  return [
    button({
      actionId: approvalActions.approve,
      text: approveWords(shown),
      value,
      style: 'primary',
      confirm: confirmDialog({
        title: `${approveWords(shown)}?`,
        text: `${whatSentence(shown)}${next}`,
        confirm: 'Approve',
        deny: 'Not now',
      }),
    }),
    button({ actionId: approvalActions.refuse, text: 'Refuse…', value }),
  ];
}

export function withdrawButton({ id }: Approval): Button {
  return button({ actionId: approvalActions.withdraw, text: 'Withdraw', value: id });
}

export function askAgainButton({ id }: Approval): Button {
  return button({ actionId: approvalActions.askAgain, text: 'Ask again', value: id });
}

/** While it waits for a press that moves money, it says so. */
export function approvalFoot(
  { state, shown }: Approval,
  { environment, account }: ChargePlace,
): ReturnType<typeof placeAlone> {
  const movesMoney = state.kind === 'waiting' && shown.kind === 'charge';
  return movesMoney
    ? context(plainText(moneyPlaceWords(environment, account)))
    : placeAlone(environment, account);
}
