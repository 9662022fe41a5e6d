import { code, headline, modal, richText, words, type Run } from '../../slack/kit/blocks.ts';
import { typedReference } from '../../slack/words/evidence.ts';
import type { HomeBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';

/** No charge of that reference was begun from here, or it is forgotten by now. Undefined: the window names none. */
export function unknownChargeMessage(reference: string | undefined, place: ChargePlace): SlackMessage {
  return parts(reference, place);
}

export function unknownChargeModal(reference: string | undefined, place: ChargePlace): Modal {
  const { blocks } = parts(reference, place);
  return modal({ callbackId: 'charge_unknown', title: placeTitle('No such charge', place), blocks });
}

function parts(reference: string | undefined, place: ChargePlace): { text: string; blocks: HomeBlock[] } {
  const named = reference === undefined ? '' : typedReference(reference);
  const { text, block } = headline('No such charge here', [named]);
  const next: Run[] =
    named === ''
      ? [code('/pay otp'), words(' lists your open codes.')]
      : [code(`/pay lookup "${named}"`), words(' asks the payments service.')];
  return {
    text,
    blocks: [
      block,
      richText(plain('It wasn’t made with this bot, or too long ago.'), labelled('Next', ...next)),
      placeFoot(place),
    ],
  };
}
