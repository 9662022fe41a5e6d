import type { CardEmailEnd, ShownCardEmail } from '../../domain/card-email.ts';
import { actions, button, code, headline, modal, richText, words } from '../blocks.ts';
import { cardWords } from '../charge/card-words.ts';
import { emailWord, labelled, plain } from '../charge/charge-facts.ts';
import { messageFoot, placeFoot, placeTitle, type ChargePlace } from '../charge/charge-place.ts';
import { customerWord, quoted } from '../evidence.ts';
import type { Modal, ModalBlock, SlackMessage } from '../message.ts';
import { cardEmailActions, draftMetadata } from './card-email-actions.ts';
import { doubtAdvice, endWords } from './end-words.ts';

/** Nothing is submitted in any of these. */
const endModalId = 'card_email_end';

/** While the service is asked. It stays only when the bot ends meanwhile, so it says what is true then, too. */
export function changingModal(terms: ShownCardEmail, place: ChargePlace): Modal {
  return modal({
    callbackId: endModalId,
    title: placeTitle('Card e-mail', place),
    blocks: [
      headline('⏳ Changing the e-mail …', [cardWords(terms.card), emailWord(terms.newEmail, 'whole')]).block,
      richText(
        plain('What becomes of it follows here. You may close this: then you are told by direct message.'),
        labelled(
          'If nothing comes within a minute',
          `the e-mail may have been changed. Type `,
          code('/pay card-email'),
          words(` and ${doubtAdvice}`),
        ),
      ),
      placeFoot(place),
    ],
  });
}

/** What became of the change, with the way back to the form where that helps. */
export function endModal(
  end: CardEmailEnd,
  { terms, draft }: { terms: ShownCardEmail; draft: string },
  place: ChargePlace,
): Modal {
  const { state, lines, theirs, again } = endWords(end, terms, 'whole');
  const blocks: ModalBlock[] = [
    headline(state, [cardWords(terms.card)]).block,
    richText(...lines),
    ...quoted('The service’s own words:', theirs),
    ...(again === undefined
      ? []
      : [actions(button({ actionId: cardEmailActions.again, text: again, value: end.kind }))]),
    placeFoot(place),
  ];
  return modal({
    callbackId: endModalId,
    title: placeTitle('Card e-mail', place),
    blocks,
    privateMetadata: draftMetadata(draft),
  });
}

/** The same for who has closed the modal: a direct message, with the addresses masked. */
export function endMessage(
  end: CardEmailEnd,
  terms: ShownCardEmail,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  const { state, lines, theirs, again } = endWords(end, terms, 'masked');
  const { text, block } = headline(state, [cardWords(terms.card), customerWord(terms.newEmail)]);
  return {
    text,
    blocks: [
      block,
      richText(
        ...lines,
        ...(again === undefined ? [] : [plain('Type ', code('/pay card-email'), ' for it.')]),
      ),
      ...quoted('The service’s own words:', theirs),
      messageFoot(place, 'answered', nowMs),
    ],
  };
}

/** What was read back is gone or other by now. */
export function staleChangeModal(place: ChargePlace): Modal {
  return modal({
    callbackId: endModalId,
    title: placeTitle('Card e-mail', place),
    blocks: [
      headline('⌛ This cannot be agreed to any more', []).block,
      richText(
        plain(
          'Nothing was changed. What was read back holds for half an hour, and only until it is corrected.',
        ),
        labelled('Next', 'type ', code('/pay card-email'), words(' and read it back again.')),
      ),
      placeFoot(place),
    ],
  });
}
