import { outcomeWords } from '../../domain/outcome.ts';
import { actions, headline, modal, richText } from '../../slack/kit/blocks.ts';
import { referenceWord } from '../../slack/words/evidence.ts';
import type { Modal } from '../../slack/kit/message.ts';
import { showButton } from './charge-buttons.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { moneyTitle, placeFoot, type ChargePlace } from '../../slack/words/charge-place.ts';

/**
 * The store stopped answering while the charge was being written. Never says that nothing was charged: if it
 * is there it will be, once, and the agent is told.
 */
export function unsureChargeModal(reference: string, place: ChargePlace): Modal {
  return modal({
    callbackId: 'charge_unsure',
    title: moneyTitle('Charge', place),
    blocks: [
      headline(`❔ ${outcomeWords.doubt}`, [referenceWord(reference)]).block,
      richText(
        plain('The bot’s storage stopped answering. Money may still move, once, within a minute.'),
        labelled('Next', 'do not charge again. Look at this charge in a minute.'),
      ),
      actions(showButton(reference)),
      placeFoot(place),
    ],
  });
}
