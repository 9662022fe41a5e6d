import type { Approval } from '../../domain/approval.ts';
import {
  actions,
  bold,
  context,
  divider,
  header,
  headline,
  moment,
  person,
  plainText,
  richText,
  words,
} from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/counted.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { homeFoot, type ChargePlace } from '../../slack/words/charge-place.ts';
import type { OpenItems } from '../../slack/command.ts';
import { placeAlone } from '../../slack/words/evidence.ts';
import type { HomeBlock, SlackMessage } from '../../slack/kit/message.ts';
import { askAgainButton, closedLines, decideButtons, withdrawButton } from './approval-message.ts';
import { approvalHeadline, approvedLine, reasonQuoted, restOfWhat, ruleWords } from './approval-words.ts';

/** What a person has to do with requests. `waiting`: of others, to be decided by this person. */
export type ApprovalsSeen = { waiting: readonly Approval[]; asked: readonly Approval[] };

/** More than a person reads at once. */
const mostShown = 6;

/** `/pay approvals`: what waits for this person, then what they asked for. */
export function approvalsMessage(seen: ApprovalsSeen, place: ChargePlace): SlackMessage {
  const { waiting, asked } = seen;
  const title =
    waiting.length > 0
      ? `🟡 ${counted(waiting.length, 'request waits', 'requests wait')} for your decision`
      : 'Nothing waits for your decision';
  const { text, block } = headline(title, asked.length === 0 ? [] : [`${asked.length} asked by you`]);
  return {
    text,
    blocks: [
      block,
      ...waiting.slice(0, mostShown).flatMap(waitingItem),
      ...more(waiting.length, 'They show up as these are decided.'),
      ...(asked.length === 0
        ? waiting.length === 0
          ? [noneAsked]
          : []
        : [header('Asked by you'), ...asked.slice(0, mostShown).flatMap(askedItem)]),
      ...more(asked.length, 'Older ones are not shown here.'),
      placeAlone(place.environment, place.account),
    ],
  };
}

const noneAsked: HomeBlock = richText(plain('You asked for nothing.'));

/** A part of the App Home; nothing without requests. */
export function homeApprovals(seen: ApprovalsSeen, place: ChargePlace): HomeBlock[] {
  const { waiting, asked } = seen;
  const open = asked.filter(({ state }) => state.kind === 'waiting' || state.kind === 'approved');
  if (waiting.length === 0 && open.length === 0) return [];
  return [
    ...(waiting.length === 0 ? [] : [header('Waiting for your decision')]),
    ...waiting.slice(0, mostShown).flatMap(waitingItem),
    ...more(waiting.length, 'They show up as these are decided.'),
    ...(open.length === 0 ? [] : [header('Asked by you, not decided yet')]),
    ...open.slice(0, mostShown).flatMap(askedItem),
    ...more(open.length, '/pay approvals lists them.'),
    ...homeFoot(place),
    divider(),
  ];
}

/** For the menu; undefined when nothing waits for them. */
export function openApprovals({ waiting }: ApprovalsSeen): OpenItems | undefined {
  const count = waiting.length;
  if (count === 0) return undefined;
  const untilMs = Math.min(...waiting.map(({ expiresAtMs }) => expiresAtMs));
  return {
    count,
    untilMs,
    line: [
      bold(`🟡 ${counted(count, 'request waits', 'requests wait')} for your decision`),
      words(count === 1 ? ' · until ' : ' · the first until '),
      moment(untilMs, '{time}'),
    ],
  };
}

function waitingItem(approval: Approval): HomeBlock[] {
  return [
    approvalHeadline(approval).block,
    richText(
      ...Object.entries(restOfWhat(approval.shown)).map(([label, runs]) => labelled(label, ...runs)),
      labelled('Asked by', person(approval.by)),
      labelled('Rule', ruleWords(approval)),
      labelled(
        'Expires',
        moment(approval.expiresAtMs),
        ` · ${approval.approvals.length} of ${approval.needed} approved`,
      ),
    ),
    ...reasonQuoted(approval.shown),
    actions(...decideButtons(approval)),
  ];
}

function askedItem(approval: Approval): HomeBlock[] {
  const { state } = approval;
  const isOpen = state.kind === 'waiting';
  return [
    approvalHeadline(approval).block,
    isOpen
      ? richText(
          labelled('Approvals', ...approvedLine(approval), ' · expires ', moment(approval.expiresAtMs)),
        )
      : richText(...closedLines(approval)),
    ...(isOpen ? [actions(withdrawButton(approval))] : []),
    ...(state.kind === 'expired' ? [actions(askAgainButton(approval))] : []),
  ];
}

function more(count: number, next: string): HomeBlock[] {
  return count > mostShown ? [context(plainText(`… and ${count - mostShown} more. ${next}`))] : [];
}
