// What the one person who pressed is told; none of it pings anybody.

import type { Approval } from '../../domain/approval.ts';
import { code, headline, moment, person, richText, words, type Run } from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/counted.ts';
import { plain } from '../../slack/words/charge-facts.ts';
import { referenceWord } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { approvalBody } from './approval-message.ts';
import { approvalHeadline, approvalState, nothingBefore, people, whatLine } from './approval-words.ts';

/** This very press decided, or was one of several that do. */
export function decidedMessage(approval: Approval): SlackMessage {
  const { text, block } = approvalHeadline(approval);
  return { text, blocks: [block, richText(decidedNext(approval))] };
}

/** Asked for by a press: it waits for somebody else now. Where it was asked for before, it says how that stands. */
export function sentMessage(approval: Approval): SlackMessage {
  const state = approval.state.kind === 'waiting' ? '🟡 Sent for approval' : approvalState(approval);
  const { text, block } = approvalHeadline(approval, state);
  return { text, blocks: [block, ...approvalBody(approval, { to: 'requester', asked: 0 })] };
}

function decidedNext(approval: Approval): Run[] {
  const { state, needed, approvals } = approval;
  switch (state.kind) {
    case 'waiting':
      return plain(
        `You approved it. ${counted(needed - approvals.length, 'more approval')} needed, from somebody else.`,
      );
    case 'refused':
      return plain('You refused it. The requester is told why.');
    case 'withdrawn':
      return plain('You withdrew it. Nobody can approve it any more.');
    default:
      return plain('You approved it. Its message says how it ends.');
  }
}

/** Somebody was first, it expired, or it was withdrawn: who, when, and that nothing changed. */
export function overMessage(approval: Approval, askedBy: string): SlackMessage {
  const { text, block } = headline(overWords(approval, askedBy), []);
  return {
    text,
    blocks: [block, richText(overLine(approval, askedBy))],
  };
}

function overWords({ state, approvals }: Approval, askedBy: string): string {
  switch (state.kind) {
    case 'refused':
      return state.by === askedBy ? '🚫 You already refused it' : '🚫 Already refused';
    case 'expired':
      return '⌛ Expired, nobody decided';
    case 'withdrawn':
      return '↩️ Already withdrawn';
    case 'waiting':
      return '🟡 Still waiting';
    default:
      return approvals.some(({ by }) => by === askedBy)
        ? '🔵 You already approved it'
        : '🔵 Already approved';
  }
}

function overLine({ state, approvals }: Approval, askedBy: string): Run[] {
  const named = (userId: string): Run => (userId === askedBy ? words('you') : person(userId));
  const last = approvals.at(-1);
  switch (state.kind) {
    case 'refused':
      return [words('Refused by '), named(state.by), words(', '), moment(state.atMs), words('.')];
    case 'expired':
      return [words('It expired '), moment(state.atMs), words('. The requester can ask again.')];
    case 'withdrawn':
      return [words('The requester withdrew it '), moment(state.atMs), words('.')];
    case 'waiting':
      return [words('Nobody has decided yet.')];
    default:
      return last
        ? [
            words('Already approved by '),
            ...people(approvals.map(({ by }) => by)),
            words(', '),
            moment(last.atMs),
            words('.'),
          ]
        : [words('It was approved.')];
  }
}

export function ownRequestMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('⛔ You asked for this, so somebody else decides', []);
  return {
    text,
    blocks: [
      block,
      richText(
        plain(`${nothingBefore(approval.shown)} Withdraw it with `, code('/pay approvals'), words('.')),
      ),
    ],
  };
}

export function approvedBeforeMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('🟡 You already approved this', []);
  const left = approval.needed - approval.approvals.length;
  const next = plain(`${counted(left, 'more approval')} needed, from somebody else.`);
  return { text, blocks: [block, richText(next)] };
}

/** What stood above the button is not what is kept, which must not happen: nobody approves what they did not read. */
export function otherTermsMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('⛔ This request has changed', []);
  return {
    text,
    blocks: [
      block,
      richText(
        plain('Nothing was approved. It now asks for:'),
        whatLine(approval.shown),
        plain('Decide it with ', code('/pay approvals'), words('.')),
      ),
    ],
  };
}

export function unknownApprovalMessage(id: string): SlackMessage {
  const { text, block } = headline('This request is gone', [referenceWord(id)]);
  const line = plain('It was decided long ago.');
  return { text, blocks: [block, richText(line)] };
}

/** Before it can be asked again it must be known what for. */
export function askAnewMessage(command: string): SlackMessage {
  const { text, block } = headline('Start over', []);
  const line = plain(
    'The form can’t be filled in any more. Type ',
    code(command),
    words(' and review it again.'),
  );
  return { text, blocks: [block, richText(line)] };
}

/** Only the requester can take it back or ask again. */
export function notYoursMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('⛔ Only the requester can do this', []);
  return {
    text,
    blocks: [block, richText([words('Asked by '), person(approval.by), words('.')])],
  };
}
