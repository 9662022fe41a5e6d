import type { CardRefusal } from '../../domain/card-refusal.ts';
import {
  actions,
  button,
  code,
  headline,
  modal,
  moment,
  person,
  richText,
  words,
  type Run,
} from '../blocks.ts';
import { referenceWord } from '../evidence.ts';
import type { Modal, ModalBlock } from '../message.ts';
import { chargeActions } from './charge-actions.ts';
import { showButton } from './charge-buttons.ts';
import { counted } from '../../domain/counted.ts';
import { labelled, plain } from './charge-facts.ts';
import { placeFoot, placeTitle, type ChargePlace } from './charge-place.ts';
import { holdLines } from './retry-lines.ts';

/** Nothing is submitted in any of them. */
export const refusalModalId = 'charge_refused';

/** The card is not charged now: why, and what to do instead. Nothing was sent. */
export function cardRefusalModal(
  refusal: CardRefusal,
  place: ChargePlace,
  /** `override`: a second person may let the card be charged all the same; which terms the window is about. */
  options: { nowMs: number; override?: string },
): Modal {
  const { nowMs, override } = options;
  const lines = refusal.kind === 'under_way' ? underWay(refusal, nowMs) : holdLines(refusal);
  const blocks: ModalBlock[] = [
    headline(`⛔ ${refusalWords[refusal.kind]}`, []).block,
    richText(plain('Nothing was charged.'), ...lines),
    ...(refusal.kind === 'under_way' ? [actions(showButton(refusal.reference))] : []),
    ...(override === undefined ? [] : overrideBlocks),
    placeFoot(place),
  ];
  return modal({
    callbackId: refusalModalId,
    title: placeTitle('Not charged', place),
    blocks,
    ...(override === undefined ? {} : { privateMetadata: override }),
  });
}

const overrideBlocks: ModalBlock[] = [
  richText(
    labelled('If it cannot wait', 'a second person may decide that the card is charged now all the same.'),
  ),
  actions(button({ actionId: chargeActions.override, text: 'Ask for an override' })),
];

const refusalWords: Record<CardRefusal['kind'], string> = {
  resting: 'Card on hold',
  stopped: 'Card on hold: no attempts left',
  save_again: 'This card can’t be charged',
  under_way: 'Another charge of this card is still open',
};

function underWay(
  { reference, by, at }: Extract<CardRefusal, { kind: 'under_way' }>,
  nowMs: number,
): Run[][] {
  const minutes = Math.floor((nowMs - at) / 60_000);
  const ago = minutes < 1 ? 'less than a minute ago' : `${counted(minutes, 'minute')} ago`;
  return [
    labelled('By', person(by), ', ', moment(at), ` (${ago})`),
    labelled('Reference', referenceWord(reference)),
    labelled('Next', 'Wait for its result: a second charge could take the money twice.'),
  ];
}

/** The terms that were read back are gone or others by now. */
export function staleTermsModal(place: ChargePlace): Modal {
  const blocks: ModalBlock[] = [
    headline('⌛ This review has expired', []).block,
    richText(
      plain('Nothing was charged. A review expires after 30 minutes, or when its form changes.'),
      labelled('Next', 'Start over with ', code('/pay charge'), words('.')),
    ),
    placeFoot(place),
  ];
  return modal({ callbackId: refusalModalId, title: placeTitle('Not charged', place), blocks });
}
