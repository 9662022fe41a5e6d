import type { ShownCardEmail } from '../../domain/card-email.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import {
  actions,
  noticeLine,
  bold,
  button,
  context,
  headline,
  modal,
  plainText,
  richText,
} from '../blocks.ts';
import { cardWords } from '../charge/card-words.ts';
import { emailWord, plain } from '../charge/charge-facts.ts';
import { placeFoot, placeTitle, type ChargePlace } from '../charge/charge-place.ts';
import { environmentWords } from '../evidence.ts';
import type { Modal } from '../message.ts';
import { cardEmailActions, draftMetadata } from './card-email-actions.ts';

export const readBackModalId = 'card_email_terms';

const placeWords = {
  live: 'the change is real.',
  sandbox: 'a test; the answer is a fixed sample, and no real card changes.',
};

/** Reads the change back, addresses whole; its submit button is what makes it. `draft` stands for exactly this. */
export function readBackModal(terms: ShownCardEmail, draft: string, place: ChargePlace): Modal {
  const { environment } = place;
  return modal({
    callbackId: readBackModalId,
    title: placeTitle('Read it back', place),
    blocks: [
      headline('Change a card’s e-mail', []).block,
      richText(
        plain(
          'You are about to change the e-mail of ',
          bold(cardWords(terms.card)),
          ' from ',
          bold(emailWord(terms.currentEmail, 'whole')),
          ' to ',
          bold(emailWord(terms.newEmail, 'whole')),
          '.',
        ),
        plain(
          'Only the e-mail changes, never the card. Charges with the old address are rejected from then on.',
        ),
      ),
      noticeLine(
        environment === 'live' ? 'warning' : 'info',
        `${environmentWords[environment]}: ${placeWords[environment]}`,
      ),
      actions(button({ actionId: cardEmailActions.again, text: 'Correct it' })),
      context(plainText('Nothing has been sent yet. This can be agreed to for half an hour.')),
      placeFoot(place),
    ],
    submit: 'Change the e-mail',
    close: 'Do not change',
    privateMetadata: draftMetadata(draft),
  });
}

/** The draft's word; undefined when the modal is none of ours. */
export function readDraftMetadata(privateMetadata: string): string | undefined {
  try {
    const read: unknown = JSON.parse(privateMetadata);
    const draft = isJsonObject(read) ? read['draft'] : undefined;
    return typeof draft === 'string' && draft !== '' ? draft : undefined;
  } catch {
    return undefined;
  }
}
