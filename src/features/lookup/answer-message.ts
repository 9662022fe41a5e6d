import type { Button } from '@slack/types';
import {
  type TransactionView,
  orderedButtons,
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
import { type ShownAccount } from '../../slack/words/account-foot.ts';
import { serviceFailureNote } from '../../slack/words/error-message.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';

/** Buttons of a look-up's answer, besides the *Look up* of a message, which runs the command again. */
export const lookupActions = {
  /** Opens the answer in a new modal; its value is the look-up's words. */
  open: openLookUpActionId,
  /** *Look up* in that modal. */
  again: 'look_up_again',
  share: 'look_up_share',
} as const;

/** The words that repeat the look-up. */
export function wordsOfView(view: Pick<TransactionView, 'reference' | 'amountMinor'>): string[] {
  return askedWords(view.reference, view.amountMinor);
}

/** What the reader may do with an answer: share it in a channel, and read the whole e-mail. */
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

/** A modal's context: `channelId` is where its answer may be shared. */
export type AnswerPlace = ShownAccount & { channelId?: string | undefined };

const answerModalId = 'lookup_answer';

function answerModal(place: AnswerPlace, note: Note): Modal {
  const title = 'Look-up';
  return noteModal(note, { callbackId: answerModalId, title, privateMetadata: place.channelId ?? '' });
}

export function lookingUpModal(reference: string, place: AnswerPlace): Modal {
  return answerModal(place, lookingUpNote(reference));
}

/** `may.share`: false once it was shared; ignored without a channel. */
export function transactionModal(
  view: TransactionView,
  channelId: string | undefined,
  may: AnswerMay,
): Modal {
  const share = channelId === undefined ? false : may.share;
  const asked = isMasked(view)
    ? []
    : orderedButtons(
        view.confirmation,
        [againButton(wordsOfView(view))],
        buttonsFor(view, { ...may, share }),
      );
  return answerModal(
    { ...view, channelId },
    { ...transactionNote(view), buttons: [...nearButton(view), ...asked] },
  );
}

/** Shown if the service gave no usable answer, with a button to ask again. */
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
