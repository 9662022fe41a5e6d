import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { codeLines, headline, modal, richText } from '../blocks.ts';
import { quoted, referenceWord } from '../evidence.ts';
import type { HomeBlock, Modal, SlackMessage } from '../message.ts';
import { amountWord, labelled, plain } from './charge-facts.ts';
import { placeFoot, placeTitle, type ChargePlace } from './charge-place.ts';

/** What asking for a card-saving link gave. */
export type SavingLink =
  | { kind: 'asking' }
  | { kind: 'made'; charge: ChargeSeen; link: string }
  | { kind: 'not_made'; why: string };

/** In the place of the modal whose button was pressed. */
export function savingLinkModal(what: SavingLink, place: ChargePlace): Modal {
  const { blocks } = parts(what, place);
  return modal({ callbackId: 'charge_saving_link', title: placeTitle('Saving link', place), blocks });
}

/** The same for the one person who pressed the button of a message. */
export function savingLinkMessage(what: SavingLink, place: ChargePlace): SlackMessage {
  return parts(what, place);
}

function parts(what: SavingLink, place: ChargePlace): { text: string; blocks: HomeBlock[] } {
  const { text, block } = head(what);
  return { text, blocks: [block, ...details(what), placeFoot(place)] };
}

function head(what: SavingLink): ReturnType<typeof headline> {
  switch (what.kind) {
    case 'asking':
      return headline('⏳ Asking for a card-saving link', []);
    case 'made':
      return headline('🔗 Card-saving link', [
        amountWord(what.charge.terms.money),
        referenceWord(what.charge.reference),
      ]);
    case 'not_made':
      return headline('⚠️ No card-saving link', []);
  }
}

function details(what: SavingLink): HomeBlock[] {
  switch (what.kind) {
    case 'asking':
      return [richText(plain('The payments service is being asked. Nobody is charged by this.'))];
    case 'made':
      return [
        codeLines([what.link]),
        richText(
          labelled(
            'Tell the customer',
            `open this link, pay ${amountWord(what.charge.terms.money)} there and complete the bank’s 3-D Secure check. Paying saves the card anew.`,
          ),
          labelled('Next', 'a payment there settles it. Do not charge the card for the same thing again.'),
        ),
      ];
    case 'not_made':
      return [...quoted('Why:', what.why), richText(labelled('Money', 'nobody was charged by this.'))];
  }
}
