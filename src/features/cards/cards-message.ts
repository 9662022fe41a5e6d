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
import { type ShownAccount, checkedFoot, accountFoot } from '../../slack/words/account-foot.ts';
import { customerWord, environmentWords, quoted } from '../../slack/words/payment-words.ts';
import type { MessageBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { messageModal } from '../../slack/kit/modals.ts';
import { outsideText } from '../../slack/kit/text.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { codec } from '../../slack/kit/form.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { CardDeletion, CardListing, CardPosition, ListedCard } from './card-listings.ts';

// Messages about a customer's saved cards.

export const cardsActions = {
  /** A card's menu. Its values are an action, a colon and the card's position. */
  more: 'cards.more',
  page: 'cards.page',
  /** Repeats a deletion whose answer was lost. */
  remove: 'cards.delete',
} as const;

const actWords = { charge: 'Charge', changeEmail: 'Change e-mail', remove: 'Delete…' } as const;
export type CardAct = keyof typeof actWords;
export const cardActs = Object.keys(actWords) as readonly CardAct[];

/** `may`: the actions that the person may do. `canOffer`: the bot remembers cards, so forms can offer these. */
export type CardsContext = {
  shownAccount: ShownAccount;
  may: Partial<Record<CardAct, boolean>>;
  canOffer: boolean;
  nowMs: number;
};

const longestExpiry = 24;
const fingerprintShown = 12;

/** Says that the sandbox's list is a sample. Spec: sandbox behaviour 1. */
function sampleLine(environment: Environment): Run[] {
  if (environment !== 'sandbox') return [];
  return labelled(environmentWords.sandbox, 'a fixed sample, no real card.');
}

const cardsOnPage = 10;

/** A page of the listing, from this index on, with each card's actions. */
export function cardsMessage(listing: CardListing, context: CardsContext, from = 0): SlackMessage {
  const { list, email, cards, total, mayHaveMore } = listing;
  const { shownAccount, canOffer, nowMs } = context;
  if (total === 0) return noCardsMessage(email, context);
  const unlisted = total - cards.length;
  const shown = cards.slice(from, from + cardsOnPage);
  const range = shown.length < cards.length ? `${from + 1} to ${from + shown.length}` : '';
  return noteMessage({
    state: `💳 ${counted(total, 'saved card')}`,
    about: [range, customerWord(email)],
    body: [
      sampleLine(shownAccount.environment),
      canOffer ? [] : rich`CARD_LEDGER is off: to charge one, paste its token key in ${code('/pay charge')}.`,
      unlisted > 0 ? rich`The bot lists ${cards.length} of them.` : [],
      mayHaveMore ? rich`There may be more.` : [],
      ...shown.flatMap((card, index) => cardBlocks(card, { list, index: from + index }, listing, context)),
    ],
    buttons: pageButtons({ list, from, listed: cards.length }),
    foot: checkedFoot(shownAccount, nowMs),
  });
}

function pageButtons({ list, from, listed }: { list: string; from: number; listed: number }): Button[] {
  const to = (text: string, index: number): Button =>
    button({ actionId: cardsActions.page, text, value: cardPosition.write({ list, index }) });
  // One button only: a block can't have the same action id twice.
  return from + cardsOnPage < listed
    ? [to('Next', from + cardsOnPage)]
    : from > 0
      ? [to('First page', 0)]
      : [];
}

function cardBlocks(
  card: ListedCard,
  at: CardPosition,
  { cards, email }: CardListing,
  context: CardsContext,
): MessageBlock[] {
  const name = faceWords(card.face);
  const facts = factsOf(card, email);
  const looksLikeAnother = cards.filter((each) => factsOf(each, email) === facts).length > 1;
  const first = rich`${bold(`${at.index + 1}. ${name}`)}${facts.slice(name.length)}`;
  return [richText(first, ...tokenLine(card, looksLikeAnother)), ...cardMenu(card, at, context)];
}

function tokenLine({ fingerprint }: ListedCard, looksLikeAnother: boolean): Run[][] {
  if (fingerprint === undefined) return [rich`It came without a token, so nothing can be done with it here.`];
  return looksLikeAnother ? [rich`Token fingerprint ${code(fingerprint.slice(0, fingerprintShown))}`] : [];
}

/** The facts by which people tell cards apart. `owner`: this e-mail is left out, because it stands above. */
function factsOf({ face, expiry, customerEmail }: ListedCard, owner?: string): string {
  const until = expiry === undefined ? [] : [`expiry ${outsideText(expiry, longestExpiry)}`];
  const email = customerEmail === owner ? [] : [customerWord(customerEmail)];
  return [faceWords(face), ...until, ...email].join(' · ');
}

/**
 * The card's menu. To charge or change a card, the bot must remember it: forms offer cards by fingerprint and never
 * have a token.
 */
function cardMenu(
  { fingerprint }: ListedCard,
  at: CardPosition,
  { may, canOffer }: CardsContext,
): ActionsBlock[] {
  if (fingerprint === undefined) return [];
  const options = cardActs
    .filter((act) => may[act] && (canOffer || act === 'remove'))
    .map((act) => ({ text: actWords[act], value: writeCardAct(act, at) }));
  const elements = overflow(cardsActions.more, options);
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

export function writeCardAct(act: CardAct, at: CardPosition): string {
  return `${act}:${cardPosition.write(at)}`;
}

/** Reads a menu's value; undefined if it is not one of ours. */
export function readCardAct(value: string): { act: CardAct; at: CardPosition } | undefined {
  const colon = value.indexOf(':');
  const act = cardActs.find((each) => each === value.slice(0, colon));
  const at = cardPosition.read(value.slice(colon + 1));
  return act && at && { act, at };
}

const deletionWords: Record<Environment, string> = {
  live: 'It can’t be charged any more, and nobody can undo this. A charge that was sent goes on.',
  sandbox: 'No real card is deleted; the bot forgets it all the same.',
};

export const deletionModalId = 'cards_delete';

/** Asks for confirmation before a card is deleted. */
export function deletionModal(
  card: ListedCard,
  at: CardPosition,
  { environment, account }: ShownAccount,
): Modal {
  return modal({
    callbackId: deletionModalId,
    title: deletionTitle,
    blocks: [
      richText([bold(factsOf(card))], rich`${deletionWords[environment]}`),
      accountFoot({ environment, account }),
    ],
    submit: 'Delete the card',
    close: 'Keep it',
    privateMetadata: cardPosition.write(at),
  });
}

const deletionTitle = 'Delete a card';

export function deletionResultModal(message: SlackMessage): Modal {
  return messageModal(deletionTitle, message);
}

/** "Visa ·· 4242", or other words if the service sent neither type nor digits. */
function faceWords(face: CardFace): string {
  const isNamed = face.cardType !== undefined || face.lastFour !== undefined;
  return isNamed ? cardWords(face) : 'Card of unknown type';
}

/** The customer has no saved cards. */
export function noCardsMessage(
  email: string,
  { shownAccount, nowMs }: Pick<CardsContext, 'shownAccount' | 'nowMs'>,
): SlackMessage {
  const next =
    email === email.toLowerCase()
      ? ['save one with a payment link: ', code('/pay link'), '.']
      : ['type it in small letters; the service may tell them apart.'];
  return noteMessage({
    state: '💳 No saved cards',
    about: [customerWord(email)],
    body: [
      rich`The service has none for this e-mail.`,
      labelled('Next', ...next),
      sampleLine(shownAccount.environment),
    ],
    foot: checkedFoot(shownAccount, nowMs),
  });
}

/** The service refused the request as invalid. */
export function refusedCardsMessage(
  { email, message }: { email: string; message: string | undefined },
  { shownAccount, nowMs }: Pick<CardsContext, 'shownAccount' | 'nowMs'>,
): SlackMessage {
  const next =
    'check the address. If every address is refused, tell the people who run this bot to check the SAVED_CARDS_ settings.';
  return noteMessage({
    state: '✗ The service refused the request',
    about: [customerWord(email)],
    body: [labelled('Next', next), ...quoted('The service says:', message)],
    foot: checkedFoot(shownAccount, nowMs),
  });
}

/** Shown during the call. */
export function listingMessage(email: string): SlackMessage {
  return noteMessage({ state: '⏳ Listing the saved cards …', about: [customerWord(email)] });
}

/** For a listing that is gone or another person's. Nothing was sent. */
export function goneCardsMessage(): SlackMessage {
  const command = code('/pay cards <e-mail>');
  return noteMessage({
    state: '⌛ This list of cards is out of date',
    body: [rich`Nothing was sent. A list is good for half an hour. List them again: ${command}`],
  });
}

/** For an environment without the settings that saved cards need. */
export function notSetUpMessage(missing: readonly string[], { environment }: ShownAccount): SlackMessage {
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

/** A button's value. It is useless without the stored listing. */
export const cardPosition = codec(z.object({ list: z.string(), index: z.int().nonnegative() }));

const askAgain = 'press Delete again; that does no harm.';

/** Shown during the call. After a crash it stays on screen, so it also says what to do then. */
export function deletingMessage(card: ListedCard, at: CardPosition): SlackMessage {
  return noteMessage({
    state: '⏳ Deleting the card',
    about: cardDetails(card),
    body: [labelled('If nothing follows within a minute', `it may have been deleted: ${askAgain}`)],
    buttons: [deleteAgain(at)],
  });
}

/** The result of a deletion. After a lost answer it says neither *deleted* nor *failed*. */
export function deletionMessage(
  deletion: CardDeletion,
  at: CardPosition,
  account: ShownAccount,
  nowMs: number,
): SlackMessage {
  const { state, lines, serviceWords } = endWords(deletion);
  return noteMessage({
    state,
    about: cardDetails(deletion.card),
    body: [
      ...lines,
      rich`${recordWords[deletion.records]}`,
      sampleLine(account.environment),
      ...quoted('The service says:', serviceWords),
      ...(deletion.kind === 'unknown' || deletion.records === 'behind' ? [actions(deleteAgain(at))] : []),
    ],
    foot: checkedFoot(account, nowMs),
  });
}

function cardDetails({ face, customerEmail }: ListedCard): string[] {
  return [faceWords(face), customerWord(customerEmail)];
}

function deleteAgain(at: CardPosition): Button {
  return button({ actionId: cardsActions.remove, text: 'Delete again', value: cardPosition.write(at) });
}

type EndWords = { state: string; lines: Run[][]; serviceWords?: string | undefined };

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
        serviceWords: deletion.message,
      };
    }
    case 'not_made': {
      if (deletion.failure === 'invalid_request') {
        const next = 'tell the people who run this bot to check SAVED_CARDS_DELETE_BODY.';
        const what = rich`The service calls the request invalid. The card can still be charged.`;
        return { state, lines: [what, labelled('Next', next)], serviceWords: deletion.message };
      }
      const { what, next } = failureWords[deletion.failure];
      return { state, lines: [rich`${what}. The card can still be charged.`, labelled('Next', next)] };
    }
    case 'unknown':
      return {
        state: '❔ In doubt: the card may have been deleted',
        lines: [rich`The payments service gave no clear answer. No money moves.`, labelled('Next', askAgain)],
        serviceWords: deletion.cause.said,
      };
  }
}

const recordWords: Record<CardDeletion['records'], string> = {
  forgotten: 'The bot has forgotten its token.',
  behind: 'The bot may still offer it, because its storage didn’t answer. Press Delete again.',
  kept: '',
};
