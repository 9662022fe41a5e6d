import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { codeLines, headline, modal, richText } from '../../slack/kit/blocks.ts';
import { quoted, referenceWord } from '../../slack/words/evidence.ts';
import type { HomeBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { amountWord, labelled, plain } from '../../slack/words/charge-facts.ts';
import { placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';

/** What asking for a card-saving link gave. */
export type SavingLink =
  | { kind: 'asking' }
  | { kind: 'made'; charge: ChargeSeen; link: string }
  | { kind: 'not_made'; why: string };

/** In the place of the modal whose button was pressed. */
export function savingLinkModal(what: SavingLink, place: ChargePlace): Modal {
  const { blocks } = parts(what, place);
  return modal({ callbackId: 'charge_saving_link', title: placeTitle('Payment link', place), blocks });
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
      return headline('⏳ Asking for a payment link', []);
    case 'made':
      return headline('🔗 Payment link', [
        amountWord(what.charge.terms.money),
        referenceWord(what.charge.reference),
      ]);
    case 'not_made':
      return headline('⚠️ No payment link', []);
  }
}

function details(what: SavingLink): HomeBlock[] {
  switch (what.kind) {
    case 'asking':
      return [richText(plain('Nobody is charged by this.'))];
    case 'made':
      return [
        codeLines([what.link]),
        richText(
          labelled(
            'Tell the customer',
            `Open it, pay ${amountWord(what.charge.terms.money)} and complete 3-D Secure. That saves the card again.`,
          ),
          labelled('Next', 'don’t charge the card for this again. A message says when it’s paid.'),
        ),
      ];
    case 'not_made':
      return [...quoted('Why:', what.why), richText(plain('Nobody was charged.'))];
  }
}
