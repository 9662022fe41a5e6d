// What the one person who pressed is told; none of it pings anybody.

import type { Approval } from '../../domain/approval.ts';
import { code, headline, moment, person, richText, words, type Run } from '../blocks.ts';
import { counted } from '../../domain/counted.ts';
import { plain } from '../charge/charge-facts.ts';
import { referenceWord } from '../evidence.ts';
import type { SlackMessage } from '../message.ts';
import { approvalBody } from './approval-message.ts';
import { approvalHeadline, approvalState, nothingBefore, people, whatLine } from './approval-words.ts';

/** This very press decided, or was one of several that do. */
export function decidedMessage(approval: Approval): SlackMessage {
  const { text, block } = approvalHeadline(approval);
  return { text, blocks: [block, richText(whatLine(approval.shown), decidedNext(approval))] };
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
        `Your approval counts. ${counted(needed - approvals.length, 'more approval')} needed, of somebody else.`,
      );
    case 'refused':
      return plain('You refused it. Whoever asked is told your reason.');
    case 'withdrawn':
      return plain('You took it back; nobody can approve it any more.');
    default:
      return plain(
        'You approved it. It is done at once, if everything still is as it was; its card says what came of it.',
      );
  }
}

/** Somebody was first, it ran out, or it was taken back: who, when, and that this press changed nothing. */
export function overMessage(approval: Approval, askedBy: string): SlackMessage {
  const { text, block } = headline(overWords(approval, askedBy), []);
  return {
    text,
    blocks: [block, richText(overLine(approval, askedBy), [words('This press changed nothing.')])],
  };
}

function overWords({ state, approvals }: Approval, askedBy: string): string {
  switch (state.kind) {
    case 'refused':
      return state.by === askedBy ? '🚫 You refused it already' : '🚫 Refused already';
    case 'expired':
      return '⌛ It has run out: nobody decided';
    case 'withdrawn':
      return '↩️ Withdrawn already';
    case 'waiting':
      return '🟡 It still waits';
    default:
      return approvals.some(({ by }) => by === askedBy)
        ? '🔵 You approved it already'
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
      return [words('It ran out '), moment(state.atMs), words('. Whoever asked can ask again.')];
    case 'withdrawn':
      return [words('Whoever asked took it back '), moment(state.atMs), words('.')];
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
  const { text, block } = headline('⛔ You asked for this: somebody else decides', []);
  return {
    text,
    blocks: [
      block,
      richText(
        whatLine(approval.shown),
        plain(
          `Until then ${nothingBefore(approval.shown)}. You can take it back with Withdraw in your direct message, or with `,
          code('/pay approvals'),
          words('.'),
        ),
      ),
    ],
  };
}

export function approvedBeforeMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('🟡 You have approved it: it takes somebody else', []);
  const left = approval.needed - approval.approvals.length;
  const next = plain(`${counted(left, 'more approval')} needed, each of another person.`);
  return { text, blocks: [block, richText(whatLine(approval.shown), next)] };
}

/** What stood above the button is not what is kept, which must not happen: nobody approves what they did not read. */
export function otherTermsMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('⛔ The request is not what you were shown', []);
  return {
    text,
    blocks: [
      block,
      richText(
        plain('Nothing was decided. What is asked for is this:'),
        whatLine(approval.shown),
        plain('Read it, and decide it with the buttons of ', code('/pay approvals'), words('.')),
      ),
    ],
  };
}

export function unknownApprovalMessage(id: string): SlackMessage {
  const { text, block } = headline('The bot does not know this request any more', [referenceWord(id)]);
  const line = plain(
    'It was decided so long ago that it is forgotten, or never asked. Nothing was changed by this press.',
  );
  return { text, blocks: [block, richText(line)] };
}

/** Before it can be asked again it must be known what for. */
export function askAnewMessage(command: string): SlackMessage {
  const { text, block } = headline('Ask for it anew', []);
  const line = plain(
    'The bot cannot fill the form in any more. Type ',
    code(command),
    words(' and read it back once more.'),
  );
  return { text, blocks: [block, richText(line)] };
}

/** Only whoever asked can take it back or ask again. */
export function notYoursMessage(approval: Approval): SlackMessage {
  const { text, block } = headline('⛔ Only whoever asked can do this', []);
  return {
    text,
    blocks: [block, richText(whatLine(approval.shown), [words('Asked by '), person(approval.by)])],
  };
}
