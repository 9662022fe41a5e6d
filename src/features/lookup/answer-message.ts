import type { Button } from '@slack/types';
import {
  type TransactionView,
  orderedButtons,
  isMasked,
  lookingUpNote,
  revealButtonOf,
  transactionNote,
} from '../../slack/words/transaction-message.ts';
import { lookUpArguments, openLookUpActionId, proofButton } from '../../slack/words/payment-words.ts';
import { maskNumbers } from '../../domain/card.ts';
import type { ServiceFailure } from '../../domain/failure.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { button } from '../../slack/kit/blocks.ts';
import { noteMessage, noteModal, type Note } from '../../slack/kit/note.ts';
import { type ShownAccount } from '../../slack/words/account-foot.ts';
import { serviceFailureNote } from '../../slack/words/error-message.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';

/** Action ids of an answer's buttons. A message's *Look up* has another id: it runs the command. */
export const lookupActions = {
  /** Opens the answer in a new modal; the button's value is the look-up's arguments. */
  open: openLookUpActionId,
  /** Looks up in the modal that holds the button, which shows the answer. */
  again: 'look_up_again',
  share: 'look_up_share',
} as const;

export function wordsOfView(view: Pick<TransactionView, 'reference' | 'amountMinor'>): string[] {
  return lookUpArguments(view.reference, view.amountMinor);
}

/** What the reader may do with an answer: share it in a channel, and read the whole e-mail. */
export type AnswerMay = { share: boolean | 'in_thread'; reveal: boolean };

/** The answer to the person who asked. */
export function answerMessage(view: TransactionView, may: AnswerMay): SlackMessage {
  return noteMessage(transactionNote(view, buttonsFor(view, may)));
}

function buttonsFor(view: TransactionView, { share, reveal }: AnswerMay): Button[] {
  const { confirmation, environment, reference, amountMinor } = view;
  return [
    ...(share === false ? [] : [shareButton(view, share)]),
    ...(confirmation.kind === 'confirmed' ? proofButton(environment, reference, amountMinor) : []),
    ...(reveal ? revealButtonOf(view) : []),
  ];
}

/** The account that a modal names, and the channel in which its answer may be shared. */
export type AnswerContext = ShownAccount & { channelId?: string | undefined };

const answerModalId = 'lookup_answer';

function answerModal(where: AnswerContext, note: Note): Modal {
  const title = 'Look-up';
  return noteModal(note, { callbackId: answerModalId, title, privateMetadata: where.channelId ?? '' });
}

export function lookingUpModal(reference: string, where: AnswerContext): Modal {
  return answerModal(where, lookingUpNote(reference));
}

/** `may.share`: false once the answer was shared; ignored without a channel. */
export function transactionModal(
  view: TransactionView,
  channelId: string | undefined,
  may: AnswerMay,
): Modal {
  const share = channelId === undefined ? false : may.share;
  const buttons = isMasked(view)
    ? []
    : orderedButtons(
        view.confirmation,
        [againButton(wordsOfView(view))],
        buttonsFor(view, { ...may, share }),
      );
  return answerModal({ ...view, channelId }, { ...transactionNote(view), buttons });
}

/** Says that the service gave no usable answer, with a button to ask again. */
export function noAnswerModal(
  failure: ServiceFailure,
  { reference, words }: { reference: OrderReference; words: readonly string[] },
  where: AnswerContext,
): Modal {
  const note = serviceFailureNote(failure, { reference, moneyMayHaveMoved: false });
  const isNumber = maskNumbers(reference) !== reference;
  return answerModal(where, { ...note, buttons: isNumber ? [] : [againButton(words)] });
}

function againButton(words: readonly string[]): Button {
  return button({ actionId: lookupActions.again, text: 'Look up', value: JSON.stringify(words) });
}

function shareButton(view: TransactionView, where: true | 'in_thread'): Button {
  const value = JSON.stringify(wordsOfView(view));
  const text = where === 'in_thread' ? 'Share here' : 'Share to channel';
  return button({ actionId: lookupActions.share, text, value });
}
