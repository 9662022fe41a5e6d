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
  modal,
  overflow,
  rich,
  richText,
} from '../../slack/kit/blocks.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { counted } from '../../domain/wording.ts';
import { labelled } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, messageFoot, placeFoot } from '../../slack/words/charge-place.ts';
import { customerWord, environmentWords, quoted } from '../../slack/words/evidence.ts';
import type { HomeBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { wordsModal } from '../../slack/kit/modals.ts';
import { outsideText } from '../../slack/kit/text.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { codec } from '../../slack/kit/form.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { CardDeletion, CardListing, ListedCard } from './saved-card-desk.ts';

// Messages with the saved cards of a customer, or with the reason why there are none.

export const cardsActions = {
  /** A card's menu. Its values are an action, a colon and the card's place. */
  more: 'cards.more',
  page: 'cards.page',
  /** Repeats a deletion whose answer was lost. */
  remove: 'cards.delete',
} as const;

const actWords = { charge: 'Charge', changeEmail: 'Change e-mail', remove: 'Delete…' } as const;
export type CardAct = keyof typeof actWords;
export const cardActs = Object.keys(actWords) as readonly CardAct[];

/** `may`: what the person may do. `canOffer`: forms can offer the cards, because the bot remembers cards. */
export type CardsContext = {
  place: ChargePlace;
  may: Partial<Record<CardAct, boolean>>;
  canOffer: boolean;
  nowMs: number;
};

const longestExpiry = 24;
const shownOfFingerprint = 12;

/** Says that the sandbox's list is a sample. Spec: sandbox behaviour 1. */
function sampleLine(environment: Environment): Run[] {
  if (environment !== 'sandbox') return [];
  return labelled(environmentWords.sandbox, 'a fixed sample, no real card.');
}

/** The number of cards on a page. */
const shownPage = 10;

/** A page of the listing, from this index on, with each card's actions. */
export function cardsMessage(listing: CardListing, context: CardsContext, from = 0): SlackMessage {
  const { list, email, cards, total, mayHaveMore } = listing;
  const { place, canOffer, nowMs } = context;
  if (total === 0) return noCardsMessage(email, context);
  const unlisted = total - cards.length;
  const shown = cards.slice(from, from + shownPage);
  const of = shown.length < cards.length ? `${from + 1} to ${from + shown.length}` : '';
  return noteMessage({
    state: `💳 ${counted(total, 'saved card')}`,
    about: [of, customerWord(email)],
    body: [
      sampleLine(place.environment),
      canOffer ? [] : rich`CARD_LEDGER is off: to charge one, paste its token key in ${code('/pay charge')}.`,
      unlisted > 0 ? rich`The bot lists ${cards.length} of them.` : [],
      mayHaveMore ? rich`There may be more.` : [],
      ...shown.flatMap((card, index) => cardBlocks(card, { list, index: from + index }, listing, context)),
    ],
    buttons: pageButtons({ list, from, listed: cards.length }),
    foot: messageFoot(place, nowMs),
  });
}

function pageButtons({ list, from, listed }: { list: string; from: number; listed: number }): Button[] {
  const to = (text: string, index: number): Button =>
    button({ actionId: cardsActions.page, text, value: cardsPlace.write({ list, index }) });
  // One button only: a block can't have the same action id twice.
  return from + shownPage < listed ? [to('Next', from + shownPage)] : from > 0 ? [to('First page', 0)] : [];
}

function cardBlocks(
  card: ListedCard,
  at: CardsPlace,
  { cards, email }: CardListing,
  context: CardsContext,
): HomeBlock[] {
  const { face, fingerprint } = card;
  const facts = factsOf(card, email);
  const isAlone = cards.filter((other) => factsOf(other, email) === facts).length === 1;
  const token =
    fingerprint === undefined
      ? rich`It came without a token, so nothing can be done with it here.`
      : isAlone
        ? []
        : rich`Token fingerprint ${code(fingerprint.slice(0, shownOfFingerprint))}`;
  const first = rich`${bold(`${at.index + 1}. ${faceWords(face)}`)}${facts.slice(faceWords(face).length)}`;
  return [richText(first, ...(token.length === 0 ? [] : [token])), ...cardMenu(card, at, context)];
}

/** The facts that distinguish a card from the others. `of`: the owner, who is named above. */
function factsOf({ face, expiry, customerEmail }: ListedCard, of?: string): string {
  const until = expiry === undefined ? [] : [`expiry ${outsideText(expiry, longestExpiry)}`];
  const whose = customerEmail === of ? [] : [customerWord(customerEmail)];
  return [faceWords(face), ...until, ...whose].join(' · ');
}

/**
 * The card's menu. Charging and changing need a remembered card, which the forms offer by its fingerprint; never put a
 * token into a form.
 */
function cardMenu(
  { fingerprint }: ListedCard,
  at: CardsPlace,
  { may, canOffer }: CardsContext,
): ActionsBlock[] {
  if (fingerprint === undefined) return [];
  const options = cardActs
    .filter((act) => may[act] && (canOffer || act === 'remove'))
    .map((act) => ({ text: actWords[act], value: writeCardAct(act, at) }));
  const elements = overflow(cardsActions.more, options);
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

export function writeCardAct(act: CardAct, at: CardsPlace): string {
  return `${act}:${cardsPlace.write(at)}`;
}

/** Reads a menu's value; undefined if it is not one of ours. */
export function readCardAct(value: string): { act: CardAct; at: CardsPlace } | undefined {
  const colon = value.indexOf(':');
  const act = cardActs.find((one) => one === value.slice(0, colon));
  const at = cardsPlace.read(value.slice(colon + 1));
  return act && at && { act, at };
}

const deletionWords: Record<Environment, string> = {
  live: 'It can’t be charged any more, and nobody can undo this. A charge that was sent goes on.',
  sandbox: 'No real card is deleted; the bot forgets it all the same.',
};

export const deletionModalId = 'cards_delete';

/** The modal that asks before a card is deleted. */
export function deletionModal(
  card: ListedCard,
  at: CardsPlace,
  { environment, account }: ChargePlace,
): Modal {
  return modal({
    callbackId: deletionModalId,
    title: deletionTitle,
    blocks: [
      richText([bold(factsOf(card))], rich`${deletionWords[environment]}`),
      placeFoot({ environment, account }),
    ],
    submit: 'Delete the card',
    close: 'Keep it',
    privateMetadata: cardsPlace.write(at),
  });
}

const deletionTitle = 'Delete a card';

export function deletionWindow(message: SlackMessage): Modal {
  return wordsModal(deletionTitle, message);
}

/** "Visa ·· 4242", or other words if the service sent neither type nor digits. */
function faceWords(face: CardFace): string {
  const isNamed = face.cardType !== undefined || face.lastFour !== undefined;
  return isNamed ? cardWords(face) : 'Card of unknown type';
}

/** The customer has no saved cards. */
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

/** The service refused the request as invalid. */
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

/** Shown while the service is asked. */
export function listingMessage(email: string): SlackMessage {
  return noteMessage({ state: '⏳ Listing the saved cards …', about: [customerWord(email)] });
}

/** The listing or the card is gone, or belongs to another person. Nothing was done. */
export function goneCardsMessage(): SlackMessage {
  const command = code('/pay cards <e-mail>');
  return noteMessage({
    state: '⌛ This list of cards is out of date',
    body: [rich`Nothing was sent. A list is good for half an hour. List them again: ${command}`],
  });
}

/** Settings are missing that this environment needs. */
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

/** A button's value: the listing's random name and the card's index. It is useless without the stored listing. */
export const cardsPlace = codec(z.object({ list: z.string(), index: z.int().nonnegative() }));
export type CardsPlace = { list: string; index: number };

const askAgain = 'press Delete again; that does no harm.';

/** Shown while the service is asked. It stays if the bot stops meanwhile, so it is worded to be true then, too. */
export function deletingMessage(card: ListedCard, at: CardsPlace): SlackMessage {
  return noteMessage({
    state: '⏳ Deleting the card',
    about: cardDetails(card),
    body: [labelled('If nothing follows within a minute', `it may have been deleted: ${askAgain}`)],
    buttons: [deleteAgain(at)],
  });
}

/**
 * The result of a deletion, and what the bot did then. If the answer was lost, it says neither *deleted* nor *failed*.
 */
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
