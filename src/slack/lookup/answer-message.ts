import type { Button } from '@slack/types';
import type { ServiceFailure } from '../../domain/failure.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { actions, button, modal } from '../blocks.ts';
import { placeTitle, type ChargePlace } from '../charge/charge-place.ts';
import { serviceFailureMessage } from '../error-message.ts';
import { lookUpButton } from '../evidence.ts';
import type { HomeBlock, Modal, SlackMessage } from '../message.ts';
import { lookingUpMessage, transactionParts, type TransactionView } from '../transaction-message.ts';
import { lookupActions, shareValue, wordsOfView } from './lookup-actions.ts';

/** One answer to the person who asked; with *Share to channel* where there is a channel. */
export function answerMessage(view: TransactionView, mayShare: boolean): SlackMessage {
  const { text, blocks } = transactionParts(view);
  const [refresh] = lookUpButton('Refresh', view.reference, view.amountMinor);
  if (!refresh) return { text, blocks };
  const share = mayShare ? [shareButton(view)] : [];
  return { text, blocks: [...blocks, { ...refresh, elements: [...refresh.elements, ...share] }] };
}

/** Where the answer stands in a modal: which channel it may be shared to. */
export type AnswerPlace = ChargePlace & { channelId?: string | undefined };

const answerModalId = 'lookup_answer';

function answerModal(place: AnswerPlace, blocks: HomeBlock[], buttons: readonly Button[]): Modal {
  return modal({
    callbackId: answerModalId,
    title: placeTitle('Look-up', place),
    blocks: buttons.length === 0 ? blocks : [...blocks, actions(...buttons)],
    privateMetadata: place.channelId ?? '',
  });
}

export function lookingUpModal(reference: string, place: AnswerPlace): Modal {
  return answerModal(place, onlyHome(lookingUpMessage(reference)), []);
}

/** `mayShare`: false once it was shared; Refresh makes it another answer. */
export function transactionModal(
  view: TransactionView,
  channelId: string | undefined,
  mayShare = channelId !== undefined,
): Modal {
  const share = mayShare ? [shareButton(view)] : [];
  return answerModal({ ...view, channelId }, transactionParts(view).blocks, [
    againButton(wordsOfView(view)),
    ...share,
  ]);
}

/** The service gave no usable answer: what that means, and the way to ask again. */
export function noAnswerModal(
  failure: ServiceFailure,
  { reference, words: asked }: { reference: OrderReference; words: readonly string[] },
  place: AnswerPlace,
): Modal {
  const message = serviceFailureMessage(failure, { reference, moneyMayHaveMoved: false });
  return answerModal(place, onlyHome(message), [againButton(asked)]);
}

function againButton(asked: readonly string[]): Button {
  return button({ actionId: lookupActions.again, text: 'Refresh', value: JSON.stringify(asked) });
}

function shareButton(view: TransactionView): Button {
  const about = String(view.checkedAtMs);
  return button({
    actionId: lookupActions.share,
    text: 'Share to channel',
    value: shareValue({ words: wordsOfView(view), about }),
  });
}

/** What these messages are made of stands on every surface. */
function onlyHome({ blocks }: SlackMessage): HomeBlock[] {
  return blocks.filter((block) => block.type === 'rich_text' || block.type === 'context');
}
