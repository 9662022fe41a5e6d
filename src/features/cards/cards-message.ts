import type { ActionsBlock, Button } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import type { CardFace } from '../../domain/charge.ts';
import {
  type Run,
  actions,
  bold,
  button,
  code,
  codeLines,
  confirmDialog,
  headline,
  richText,
  words,
} from '../../slack/kit/blocks.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { counted } from '../../domain/counted.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, messageFoot } from '../../slack/words/charge-place.ts';
import { customerWord, environmentWords, quoted, referenceWord } from '../../slack/words/evidence.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { cut, outsideText } from '../../slack/kit/text.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import type { CardDeletionAnswer } from '../../domain/saved-card-list.ts';
import { failureWords } from '../../slack/words/error-message.ts';

// The saved cards of one customer, and what there is to say when there are none.

export const cardsActions = {
  charge: 'cards.charge',
  changeEmail: 'cards.change_email',
  remove: 'cards.delete',
  /** Shows another part of the same listing. */
  /** Two buttons of one row need two names. */
  back: 'cards.page.back',
  next: 'cards.page.next',
  /** Asks the service once more for the same e-mail. */
  again: 'cards.again',
} as const;

/** One card as it is shown; its fingerprint is a keyed hash and no secret. */
export type CardShown = {
  fingerprint?: string;
  face: CardFace;
  expiry?: string;
  customerEmail: string;
  /** Absent when the bot remembers no cards. */
  isKnown?: boolean;
};

type CardsShown = {
  list: string;
  email: string;
  cards: readonly CardShown[];
  total: number;
  mayHaveMore?: true;
};

/** What the person may do with a card, and which other verbs there are to name. */
export type CardsMay = { charge: boolean; changeEmail: boolean; remove: boolean; link: boolean };

export type CardsContext = { place: ChargePlace; may: CardsMay; nowMs: number };

/** With their buttons and confirm dialogs so many stay well below what Slack takes in one message. */
const cardsPerMessage = 8;

const longestExpiry = 24;
const shownOfFingerprint = 12;

/** Spec: sandbox behaviour 1. */
function sampleLine(environment: Environment): Run[][] {
  if (environment !== 'sandbox') return [];
  return [labelled(environmentWords.sandbox, 'a fixed sample, no real card.')];
}

/** The cards from that one on, as many as fit, each with what may be done with it. */
export function cardsMessage(
  { list, email, cards, total, mayHaveMore }: CardsShown,
  from: number,
  { place, may, nowMs }: CardsContext,
): SlackMessage {
  if (total === 0) return noCardsMessage({ email, why: 'empty' }, { place, may, nowMs });
  const shown = cards.slice(from, from + cardsPerMessage);
  const { text, block } = headline(`💳 ${counted(total, 'saved card')}`, [
    customerWord(email),
    ...(total > shown.length ? [`shown ${from + 1}–${from + shown.length}`] : []),
  ]);
  const lines = [...sampleLine(place.environment), ...ledgerLine(cards), ...moreLine(cards, total, from)];
  if (mayHaveMore) lines.push(plain('There may be more.'));
  return {
    text,
    blocks: [
      block,
      ...(lines.length === 0 ? [] : [richText(...lines)]),
      ...shown.flatMap((card, index) => cardBlocks(card, { list, index: from + index }, { place, may })),
      ...pageButtons(list, cards.length, from),
      messageFoot(place, 'listed', nowMs),
    ],
  };
}

function ledgerLine(cards: readonly CardShown[]): Run[][] {
  if (cards.some(({ isKnown }) => isKnown !== undefined)) return [];
  if (cards.every(({ fingerprint }) => fingerprint === undefined)) return [];
  return [plain('CARD_LEDGER is off: to charge one, paste its token key in ', code('/pay charge'), '.')];
}

function moreLine(cards: readonly CardShown[], total: number, from: number): Run[][] {
  const next = cards.length - from - cardsPerMessage;
  const unkept = total - cards.length;
  return [
    ...(next > 0 ? [plain(`${next} more: press Next.`)] : []),
    ...(unkept > 0 ? [plain(`The service has ${unkept} more, which don’t fit here.`)] : []),
  ];
}

function cardBlocks(
  card: CardShown,
  at: { list: string; index: number },
  { place, may }: { place: ChargePlace; may: CardsMay },
): MessageBlock[] {
  const { face, expiry, customerEmail, fingerprint, isKnown } = card;
  const facts = [
    ...(expiry === undefined ? [] : [`expiry ${outsideText(expiry, longestExpiry)}`]),
    customerWord(customerEmail),
  ];
  const known = { true: 'the bot knows it', false: 'new to the bot' } as const;
  const token =
    fingerprint === undefined
      ? plain('It came without a token, so nothing can be done with it here.')
      : plain(
          'Token fingerprint ',
          code(fingerprint.slice(0, shownOfFingerprint)),
          ...(isKnown === undefined ? [] : [` · ${known[`${isKnown}`]}`]),
        );
  return [
    richText([bold(`${at.index + 1}. ${faceWords(face)}`), words(` · ${facts.join(' · ')}`)], token),
    ...cardButtons(card, cardsValue(at), { place, may }),
  ];
}

function cardButtons(
  card: CardShown,
  value: string,
  { place, may }: { place: ChargePlace; may: CardsMay },
): ActionsBlock[] {
  const { fingerprint, isKnown } = card;
  if (fingerprint === undefined) return [];
  // A form offers the cards that the bot remembers; a token never stands in one.
  const canBeOffered = isKnown !== undefined;
  const buttons: Button[] = [
    ...(may.charge && canBeOffered
      ? [button({ actionId: cardsActions.charge, text: 'Charge this card', value })]
      : []),
    ...(may.changeEmail && canBeOffered
      ? [button({ actionId: cardsActions.changeEmail, text: 'Change its e-mail', value })]
      : []),
    ...(may.remove
      ? [
          button({
            actionId: cardsActions.remove,
            text: 'Delete …',
            value,
            style: 'danger',
            confirm: deletionDialog(card, place),
          }),
        ]
      : []),
  ];
  return buttons.length === 0 ? [] : [actions(...buttons)];
}

const deletionWords: Record<Environment, string> = {
  live: 'It can’t be charged any more, and nobody can undo this.',
  sandbox: 'No real card is deleted; the bot forgets it all the same.',
};

function deletionDialog(
  { face, customerEmail }: CardShown,
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
export function faceWords(face: CardFace): string {
  const isNamed = face.cardType !== undefined || face.lastFour !== undefined;
  return isNamed ? cardWords(face) : 'Card of unknown type';
}

function pageButtons(list: string, count: number, from: number): ActionsBlock[] {
  const back = from === 0 ? undefined : Math.max(0, from - cardsPerMessage);
  const next = from + cardsPerMessage < count ? from + cardsPerMessage : undefined;
  function page(text: string, actionId: string, index: number | undefined): Button[] {
    return index === undefined ? [] : [button({ actionId, text, value: cardsValue({ list, index }) })];
  }
  const buttons = [...page('Back', cardsActions.back, back), ...page('Next', cardsActions.next, next)];
  return buttons.length === 0 ? [] : [actions(...buttons)];
}

/** An answer and no error; `not_found` is the service's own word for it. */
export function noCardsMessage(
  { email, why }: { email: string; why: 'empty' | 'not_found' },
  { place, may, nowMs }: CardsContext,
): SlackMessage {
  const { text, block } = headline('💳 No saved cards', [customerWord(email)]);
  const what =
    why === 'empty' ? 'The service has none for this e-mail.' : 'The service doesn’t know this e-mail.';
  const link = plain('save one with a payment link', ...(may.link ? [': ', code('/pay link')] : []), '.');
  return {
    text,
    blocks: [
      block,
      richText(plain(what), [bold('Next: '), ...link], ...sampleLine(place.environment)),
      messageFoot(place, 'asked', nowMs),
    ],
  };
}

/** The service found the request invalid. */
export function refusedCardsMessage(
  { email, message }: { email: string; message: string | undefined },
  { place, nowMs }: Pick<CardsContext, 'place' | 'nowMs'>,
): SlackMessage {
  const { text, block } = headline('✗ The service refused the request', [customerWord(email)]);
  return {
    text,
    blocks: [
      block,
      richText(
        labelled(
          'Next',
          'check the address. If every address is refused, tell the people who run this bot to check the SAVED_CARDS_ settings.',
        ),
      ),
      ...quoted('The service says:', message),
      messageFoot(place, 'asked', nowMs),
    ],
  };
}

/** While the service is asked. */
export function listingMessage(email: string): SlackMessage {
  const { text, block } = headline('⏳ Listing the saved cards …', [customerWord(email)]);
  return { text, blocks: [block] };
}

/** The listing or the card in it is forgotten, or was never this person's: nothing was done. */
export function goneCardsMessage(): SlackMessage {
  const { text, block } = headline('⌛ This list of cards is out of date', []);
  return {
    text,
    blocks: [
      block,
      richText(
        plain(
          'Nothing was sent. A list is good for half an hour. List them again: ',
          code('/pay cards <e-mail>'),
        ),
      ),
    ],
  };
}

/** In an environment whose shape nobody has given yet. */
export function notSetUpMessage(missing: readonly string[], { environment }: ChargePlace): SlackMessage {
  const { text, block } = headline('Saved cards can’t be listed here yet', [environmentWords[environment]]);
  return {
    text,
    blocks: [
      block,
      richText(
        plain('The bot has to be told how the payments service lists and deletes them.'),
        labelled('Next', 'tell the people who run this bot to set these (docs/settings.md):'),
      ),
      codeLines(missing),
    ],
  };
}

/** What a button carries: the listing's random name and which of its cards, neither of them worth anything by itself. */
export type CardsPlace = { list: string; index: number };

function cardsValue({ list, index }: CardsPlace): string {
  return JSON.stringify({ list, index });
}

export function readCardsValue(value: string): CardsPlace | undefined {
  try {
    const read: unknown = JSON.parse(value);
    if (!isJsonObject(read)) return undefined;
    const { list, index } = read;
    if (typeof list !== 'string' || typeof index !== 'number') return undefined;
    return Number.isSafeInteger(index) && index >= 0 ? { list, index } : undefined;
  } catch {
    return undefined;
  }
}

export type DeletionShown = CardDeletionAnswer & {
  card: CardShown;
  /** Whether the bot's own records forgot it; `kept` when the card may still exist. */
  records: 'forgotten' | 'behind' | 'kept';
  /** References of charges with it that have no outcome yet. */
  open: readonly string[];
};

/** More than these are rarely open with one card, and `/pay doubt` lists them all. */
const mostOpen = 5;

const askAgain = 'press Delete again; that does no harm.';

/** Before the service is asked; it stays alone only when the bot ends meanwhile, so it says what is true then, too. */
export function deletingMessage(card: CardShown, at: CardsPlace): SlackMessage {
  const { text, block } = headline('⏳ Deleting the card', cardDetails(card));
  return {
    text,
    blocks: [
      block,
      richText(labelled('If nothing follows within a minute', `it may have been deleted: ${askAgain}`)),
      nextButtons(at, true),
    ],
  };
}

/** What the service answered, and what the bot did then. Doubt is never called deleted, and never failed. */
export function deletionMessage(
  deletion: DeletionShown,
  at: CardsPlace,
  { place, may, nowMs }: CardsContext,
): SlackMessage {
  const { state, lines, theirs } = endWords(deletion, may.link);
  const { text, block } = headline(state, cardDetails(deletion.card));
  return {
    text,
    blocks: [
      block,
      richText(
        ...lines,
        ...recordLines(deletion),
        ...openLines(deletion.open),
        ...sampleLine(place.environment),
      ),
      ...quoted('The service says:', theirs),
      nextButtons(at, deletion.kind === 'unknown' || deletion.records === 'behind'),
      messageFoot(place, 'answered', nowMs),
    ],
  };
}

function cardDetails({ face, customerEmail }: CardShown): string[] {
  return [faceWords(face), customerWord(customerEmail)];
}

function nextButtons(at: CardsPlace, mayDelete: boolean): MessageBlock {
  const first = cardsValue({ ...at, index: 0 });
  return actions(
    ...(mayDelete
      ? [button({ actionId: cardsActions.remove, text: 'Delete again', value: cardsValue(at) })]
      : []),
    button({ actionId: cardsActions.again, text: 'List again', value: first }),
  );
}

type EndWords = { state: string; lines: Run[][]; theirs?: string | undefined };

function endWords(deletion: DeletionShown, hasLink: boolean): EndWords {
  switch (deletion.kind) {
    case 'deleted':
      return {
        state: '✓ Card deleted',
        lines: [
          plain('It can’t be charged any more.'),
          ...(hasLink ? [plain('To save another: ', code('/pay link'))] : []),
        ],
      };
    case 'no_such_card':
      return {
        state: '✓ Already gone',
        lines: [plain('The service knows no such card.')],
      };
    case 'refused':
      return {
        state: '✗ Card not deleted',
        lines: [
          plain('The service refused. The card can still be charged.'),
          labelled('Next', 'list again, and compare.'),
        ],
        theirs: deletion.message,
      };
    case 'not_made':
      return notMadeWords(deletion);
    case 'unknown':
      return {
        state: '❔ In doubt: the card may have been deleted',
        lines: [
          plain('The payments service gave no clear answer. No money moves by this.'),
          labelled('Next', askAgain),
        ],
      };
  }
}

function notMadeWords(deletion: Extract<CardDeletionAnswer, { kind: 'not_made' }>): EndWords {
  const state = '✗ Card not deleted';
  if (deletion.failure === 'invalid_request') {
    return {
      state,
      lines: [
        plain('The service calls the request invalid. The card can still be charged.'),
        labelled('Next', 'tell the people who run this bot to check SAVED_CARDS_DELETE_BODY.'),
      ],
      theirs: deletion.message,
    };
  }
  const { what, next } = failureWords[deletion.failure];
  return {
    state,
    lines: [plain(`${what}. The card can still be charged.`), labelled('Next', next)],
  };
}

function recordLines({ records }: DeletionShown): Run[][] {
  switch (records) {
    case 'forgotten':
      return [plain('The bot has forgotten its token; open reviews with it have expired.')];
    case 'behind':
      return [plain('The bot may still offer it, because its storage didn’t answer. Press Delete again.')];
    case 'kept':
      return [];
  }
}

/** A charge that left is the bank's by now: deleting the card takes nothing back. */
function openLines(open: readonly string[]): Run[][] {
  if (open.length === 0) return [];
  const shown = open.slice(0, mostOpen);
  const more = open.length - shown.length;
  return [
    labelled('Still open with this card', 'deleting it takes none back.'),
    ...shown.map((reference) => plain('• ', code(`/pay lookup ${referenceWord(reference)}`))),
    ...(more > 0 ? [plain(`… and ${more} more: `, code('/pay doubt'))] : []),
  ];
}
