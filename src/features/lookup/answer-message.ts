import type { Button } from '@slack/types';
import {
  type TransactionView,
  inOrder,
  isMasked,
  lookingUpNote,
  nearButton,
  revealButtonOf,
  transactionNote,
} from '../../slack/words/transaction-message.ts';
import { askedWords, openLookUpActionId, proofButton } from '../../slack/words/evidence.ts';
import { maskNumbers } from '../../domain/card.ts';
import type { ServiceFailure } from '../../domain/failure.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { button } from '../../slack/kit/blocks.ts';
import { noteMessage, noteModal, type Note } from '../../slack/kit/note.ts';
import { type ChargePlace } from '../../slack/words/charge-place.ts';
import { serviceFailureNote } from '../../slack/words/error-message.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';

/** The buttons of a look-up's answer besides *Look up* of a message, which runs the verb again. */
export const lookupActions = {
  /** Opens the answer in a modal of its own; its value is the words of the look-up. */
  open: openLookUpActionId,
  /** *Look up* in that modal. */
  again: 'look_up_again',
  share: 'look_up_share',
} as const;

/** The words that ask the same question again. */
export function wordsOfView(view: Pick<TransactionView, 'reference' | 'amountMinor'>): string[] {
  return askedWords(view.reference, view.amountMinor);
}

/** What its reader may do with an answer: share it where there is a channel, and read the customer's e-mail in full. */
export type AnswerMay = { share: boolean | 'in_thread'; reveal: boolean };

/** One answer to the person who asked. */
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

/** Where the answer stands in a modal: which channel it may be shared to. */
export type AnswerPlace = ChargePlace & { channelId?: string | undefined };

const answerModalId = 'lookup_answer';

function answerModal(place: AnswerPlace, note: Note): Modal {
  const title = 'Look-up';
  return noteModal(note, { callbackId: answerModalId, title, privateMetadata: place.channelId ?? '' });
}

export function lookingUpModal(reference: string, place: AnswerPlace): Modal {
  return answerModal(place, lookingUpNote(reference));
}

/** `may.share`: not where there is no channel, nor once it was shared; Look up makes it another answer. */
export function transactionModal(
  view: TransactionView,
  channelId: string | undefined,
  may: AnswerMay,
): Modal {
  const share = channelId === undefined ? false : may.share;
  const asked = isMasked(view)
    ? []
    : inOrder(view.confirmation, [againButton(wordsOfView(view))], buttonsFor(view, { ...may, share }));
  return answerModal(
    { ...view, channelId },
    { ...transactionNote(view), buttons: [...nearButton(view), ...asked] },
  );
}

/** The service gave no usable answer: what that means, and the way to ask again. */
export function noAnswerModal(
  failure: ServiceFailure,
  { reference, words: asked }: { reference: OrderReference; words: readonly string[] },
  place: AnswerPlace,
): Modal {
  const note = serviceFailureNote(failure, { reference, moneyMayHaveMoved: false });
  const isNumber = maskNumbers(reference) !== reference;
  return answerModal(place, { ...note, buttons: isNumber ? [] : [againButton(asked)] });
}

function againButton(asked: readonly string[]): Button {
  return button({ actionId: lookupActions.again, text: 'Look up', value: JSON.stringify(asked) });
}

function shareButton(view: TransactionView, where: true | 'in_thread'): Button {
  const value = JSON.stringify(wordsOfView(view));
  const text = where === 'in_thread' ? 'Share here' : 'Share to channel';
  return button({ actionId: lookupActions.share, text, value });
}
