// The windows of a request: why it is refused, why an exception is asked for, and what is waited for.

import type { WebClient } from '@slack/web-api';
import { type Parsed, parsed, problem } from '../../domain/parsed.ts';
import type { Approval } from '../../domain/approval.ts';
import { type Choice, actions, modal, richText, select, textInput } from '../../slack/kit/blocks.ts';
import { plain } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, placeFoot, placeTitle } from '../../slack/words/charge-place.ts';
import type { ViewValues } from '../../slack/command.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';
import type { Log } from '../../log.ts';
import { updateModal } from '../../slack/kit/modals.ts';
import { approvalHeadline, requestValue, whatLine } from './approval-words.ts';
import { type ApprovalCopy, approvalBody, askAgainButton, withdrawButton } from './approval-message.ts';

export const refuseModalId = 'approval_refuse';
/** Nothing is submitted in it. */
const requestModalId = 'approval_request';

export const refuseFields = { choice: 'approval_refuse_choice', words: 'approval_refuse_words' } as const;

const longestReason = 300;

const usualReasons: readonly Choice[] = [
  { text: 'The amount is not right', value: 'amount' },
  { text: 'The wrong card or customer', value: 'card' },
  { text: 'The customer didn’t agree', value: 'customer' },
  { text: 'Not enough to go by', value: 'unclear' },
  { text: 'No longer needed', value: 'needless' },
];

/** A reason of the list, own words, or both; the requester reads it. */
export function refuseModal(approval: Approval, place: ChargePlace): Modal {
  return modal({
    callbackId: refuseModalId,
    title: placeTitle('Refuse', place),
    submit: 'Refuse it',
    close: 'Back',
    privateMetadata: requestValue(approval),
    blocks: [
      approvalHeadline(approval).block,
      richText(whatLine(approval.shown), plain('Nobody can approve it after that.')),
      select({
        id: refuseFields.choice,
        label: 'Reason',
        choices: usualReasons,
        optional: true,
      }),
      textInput({
        id: refuseFields.words,
        label: 'In your own words',
        placeholder: 'The order was cancelled this morning',
        hint: 'Everybody who sees the request reads it. Required if no reason is chosen.',
        maxLength: longestReason,
        optional: true,
      }),
      placeFoot(place),
    ],
  });
}

export function readRefuseModal(values: ViewValues): Parsed<string> {
  const chosen = usualReasons.find(({ value }) => value === values[refuseFields.choice])?.text;
  const typed = oneLine(values[refuseFields.words] ?? '');
  const reason = [chosen, typed].filter((part) => part !== undefined && part !== '').join(': ');
  return reason === '' ? problem('Choose a reason above, or say why in a few words.') : parsed(reason);
}

/** What the requester sees of it: that it waits, and later what became of it, until the charge’s own window takes its place. */
export function requestModal(approval: Approval, asked: ApprovalCopy['asked'], place: ChargePlace): Modal {
  const { kind } = approval.state;
  const blocks: ModalBlock[] = [
    approvalHeadline(approval).block,
    ...approvalBody(approval, { to: 'requester', asked }),
    ...(kind === 'waiting'
      ? [
          richText(plain('You can close this. The decision comes as a direct message.')),
          actions(withdrawButton(approval)),
        ]
      : []),
    ...(kind === 'expired' ? [actions(askAgainButton(approval))] : []),
    placeFoot(place),
  ];
  return modal({ callbackId: requestModalId, title: placeTitle('Approval', place), blocks });
}

type ShowApproval = (approval: Approval, asked: number, views: readonly { id: string }[]) => Promise<void>;

/** Puts a request as it is into the windows that wait for it. Never throws: a window may be closed at any time. */
export function createShowApproval(deps: { client: WebClient; place: ChargePlace; log: Log }): ShowApproval {
  return async function show(approval, asked, views) {
    const modal = requestModal(approval, asked, deps.place);
    await Promise.all(views.map(({ id: viewId }) => updateModal(deps.client, { viewId, modal }, deps.log)));
  };
}
