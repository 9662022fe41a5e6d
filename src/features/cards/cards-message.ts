import type { ActionsBlock, Button } from '@slack/types';
import { z } from 'zod';
import type { Environment } from '../../domain/alert.ts';
import type { CardFace } from '../../domain/card.ts';
import {
  type Run,
  actions,
  bold,
  button,
  code,
  codeLines,
  confirmDialog,
  rich,
  richText,
} from '../../slack/kit/blocks.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { counted } from '../../domain/wording.ts';
import { labelled } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, messageFoot } from '../../slack/words/charge-place.ts';
import { customerWord, environmentWords, quoted } from '../../slack/words/evidence.ts';
import type { HomeBlock, SlackMessage } from '../../slack/kit/message.ts';
import { cut, outsideText } from '../../slack/kit/text.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { codec } from '../../slack/kit/form.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { CardDeletion, CardListing, ListedCard } from './saved-card-desk.ts';

// The saved cards of one customer, and what there is to say when there are none.

export const cardsActions = {
  charge: 'cards.charge',
  changeEmail: 'cards.change_email',
  remove: 'cards.delete',
} as const;

/** `may`: what the person may do with a card. `canOffer`: the bot remembers cards, so that its forms can offer them. */
export type CardsContext = {
  place: ChargePlace;
  may: Partial<Record<'charge' | 'changeEmail' | 'remove', boolean | undefined>>;
  canOffer: boolean;
  nowMs: number;
};

const longestExpiry = 24;
const shownOfFingerprint = 12;

/** Spec: sandbox behaviour 1. */
function sampleLine(environment: Environment): Run[] {
  if (environment !== 'sandbox') return [];
  return labelled(environmentWords.sandbox, 'a fixed sample, no real card.');
}

/** Each card with what may be done with it. */
export function cardsMessage(listing: CardListing, context: CardsContext): SlackMessage {
  const { list, email, cards, total, mayHaveMore } = listing;
  const { place, canOffer, nowMs } = context;
  if (total === 0) return noCardsMessage(email, context);
  const unlisted = total - cards.length;
  return noteMessage({
    state: `💳 ${counted(total, 'saved card')}`,
    about: [customerWord(email)],
    body: [
      sampleLine(place.environment),
      canOffer ? [] : rich`CARD_LEDGER is off: to charge one, paste its token key in ${code('/pay charge')}.`,
      unlisted > 0 ? rich`Not shown here: ${unlisted} more.` : [],
      mayHaveMore ? rich`There may be more.` : [],
      ...cards.flatMap((card, index) => cardBlocks(card, { list, index }, context)),
    ],
    foot: messageFoot(place, nowMs),
  });
}

function cardBlocks(card: ListedCard, at: CardsPlace, context: CardsContext): HomeBlock[] {
  const { face, expiry, customerEmail, fingerprint } = card;
  const facts = [
    ...(expiry === undefined ? [] : [`expiry ${outsideText(expiry, longestExpiry)}`]),
    customerWord(customerEmail),
  ];
  const token =
    fingerprint === undefined
      ? rich`It came without a token, so nothing can be done with it here.`
      : rich`Token fingerprint ${code(fingerprint.slice(0, shownOfFingerprint))}`;
  const first = rich`${bold(`${at.index + 1}. ${faceWords(face)}`)} · ${facts.join(' · ')}`;
  return [richText(first, token), ...cardButtons(card, cardsPlace.write(at), context)];
}

function cardButtons(
  card: ListedCard,
  value: string,
  { place, may, canOffer }: CardsContext,
): ActionsBlock[] {
  if (card.fingerprint === undefined) return [];
  const { charge, changeEmail, remove: actionId } = cardsActions;
  const confirm = deletionDialog(card, place);
  const buttons = [
    // A form offers the cards that the bot remembers; a token never stands in one.
    ...(may.charge && canOffer ? [button({ actionId: charge, text: 'Charge this card', value })] : []),
    ...(may.changeEmail && canOffer
      ? [button({ actionId: changeEmail, text: 'Change its e-mail', value })]
      : []),
    ...(may.remove ? [button({ actionId, text: 'Delete…', value, style: 'danger', confirm })] : []),
  ];
  return buttons.length === 0 ? [] : [actions(...buttons)];
}

const deletionWords: Record<Environment, string> = {
  live: 'It can’t be charged any more, and nobody can undo this. A charge that was sent goes on.',
  sandbox: 'No real card is deleted; the bot forgets it all the same.',
};

function deletionDialog(
  { face, customerEmail }: ListedCard,
  { environment }: ChargePlace,
): ReturnType<typeof confirmDialog> {
  const card = `${faceWords(face)} of ${cut(customerWord(customerEmail), 60)}`;
  return confirmDialog({
    title: `Delete this card? ${environmentWords[environment]}`,
    text: `${card}. ${deletionWords[environment]}`,
    confirm: 'Delete the card',
    deny: 'Keep it',
    style: 'danger',
  });
}

/** "Visa ·· 4242"; words of its own where the service told neither. */
function faceWords(face: CardFace): string {
  const isNamed = face.cardType !== undefined || face.lastFour !== undefined;
  return isNamed ? cardWords(face) : 'Card of unknown type';
}

/** An answer and no error. */
export function noCardsMessage(
  email: string,
  { place, nowMs }: Pick<CardsContext, 'place' | 'nowMs'>,
): SlackMessage {
  return noteMessage({
    state: '💳 No saved cards',
    about: [customerWord(email)],
    body: [
      rich`The service has none for this e-mail.`,
      labelled('Next', 'save one with a payment link: ', code('/pay link'), '.'),
      sampleLine(place.environment),
    ],
    foot: messageFoot(place, nowMs),
  });
}

/** The service found the request invalid. */
export function refusedCardsMessage(
  { email, message }: { email: string; message: string | undefined },
  { place, nowMs }: Pick<CardsContext, 'place' | 'nowMs'>,
): SlackMessage {
  const next =
    'check the address. If every address is refused, tell the people who run this bot to check the SAVED_CARDS_ settings.';
  return noteMessage({
    state: '✗ The service refused the request',
    about: [customerWord(email)],
    body: [labelled('Next', next), ...quoted('The service says:', message)],
    foot: messageFoot(place, nowMs),
  });
}

/** While the service is asked. */
export function listingMessage(email: string): SlackMessage {
  return noteMessage({ state: '⏳ Listing the saved cards …', about: [customerWord(email)] });
}

/** The listing or the card in it is forgotten, or was never this person's: nothing was done. */
export function goneCardsMessage(): SlackMessage {
  const command = code('/pay cards <e-mail>');
  return noteMessage({
    state: '⌛ This list of cards is out of date',
    body: [rich`Nothing was sent. A list is good for half an hour. List them again: ${command}`],
  });
}

/** In an environment whose shape nobody has given yet. */
export function notSetUpMessage(missing: readonly string[], { environment }: ChargePlace): SlackMessage {
  return noteMessage({
    state: 'Saved cards can’t be listed here yet',
    about: [environmentWords[environment]],
    body: [
      rich`The bot has to be told how the payments service lists and deletes them.`,
      labelled('Next', 'tell the people who run this bot to set these (docs/settings.md):'),
      codeLines(missing),
    ],
  });
}

/** What a button carries: the listing's random name and which of its cards, neither of them worth anything by itself. */
export const cardsPlace = codec(z.object({ list: z.string(), index: z.int().nonnegative() }));
type CardsPlace = { list: string; index: number };

const askAgain = 'press Delete again; that does no harm.';

/** Before the service is asked; it stays alone only when the bot ends meanwhile, so it says what is true then, too. */
export function deletingMessage(card: ListedCard, at: CardsPlace): SlackMessage {
  return noteMessage({
    state: '⏳ Deleting the card',
    about: cardDetails(card),
    body: [labelled('If nothing follows within a minute', `it may have been deleted: ${askAgain}`)],
    buttons: [deleteAgain(at)],
  });
}

/** What the service answered, and what the bot did then. Doubt is never called deleted, and never failed. */
export function deletionMessage(
  deletion: CardDeletion,
  at: CardsPlace,
  place: ChargePlace,
  nowMs: number,
): SlackMessage {
  const { state, lines, theirs } = endWords(deletion);
  return noteMessage({
    state,
    about: cardDetails(deletion.card),
    body: [
      ...lines,
      rich`${recordWords[deletion.records]}`,
      sampleLine(place.environment),
      ...quoted('The service says:', theirs),
      ...(deletion.kind === 'unknown' || deletion.records === 'behind' ? [actions(deleteAgain(at))] : []),
    ],
    foot: messageFoot(place, nowMs),
  });
}

function cardDetails({ face, customerEmail }: ListedCard): string[] {
  return [faceWords(face), customerWord(customerEmail)];
}

function deleteAgain(at: CardsPlace): Button {
  return button({ actionId: cardsActions.remove, text: 'Delete again', value: cardsPlace.write(at) });
}

type EndWords = { state: string; lines: Run[][]; theirs?: string | undefined };

function endWords(deletion: CardDeletion): EndWords {
  const state = '✗ Card not deleted';
  switch (deletion.kind) {
    case 'deleted':
      return {
        state: '✓ Card deleted',
        lines: [rich`It can’t be charged any more.`, rich`To save another: ${code('/pay link')}`],
      };
    case 'no_such_card':
      return { state: '✓ Already gone', lines: [rich`The service knows no such card.`] };
    case 'refused': {
      const next = labelled(
        'Next',
        'list them once more with ',
        code('/pay cards <e-mail>'),
        ', and compare.',
      );
      return {
        state,
        lines: [rich`The service refused. The card can still be charged.`, next],
        theirs: deletion.message,
      };
    }
    case 'not_made': {
      if (deletion.failure === 'invalid_request') {
        const next = 'tell the people who run this bot to check SAVED_CARDS_DELETE_BODY.';
        const what = rich`The service calls the request invalid. The card can still be charged.`;
        return { state, lines: [what, labelled('Next', next)], theirs: deletion.message };
      }
      const { what, next } = failureWords[deletion.failure];
      return { state, lines: [rich`${what}. The card can still be charged.`, labelled('Next', next)] };
    }
    case 'unknown':
      return {
        state: '❔ In doubt: the card may have been deleted',
        lines: [rich`The payments service gave no clear answer. No money moves.`, labelled('Next', askAgain)],
      };
  }
}

const recordWords: Record<CardDeletion['records'], string> = {
  forgotten: 'The bot has forgotten its token.',
  behind: 'The bot may still offer it, because its storage didn’t answer. Press Delete again.',
  kept: '',
};
