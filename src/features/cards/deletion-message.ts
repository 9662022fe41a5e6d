// What became of the deletion of a saved card.

import type { CardDeletionAnswer } from '../../domain/saved-card-list.ts';
import { actions, button, code, headline, richText, type Run } from '../../slack/kit/blocks.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { messageFoot } from '../../slack/words/charge-place.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { customerWord, quoted, referenceWord } from '../../slack/words/evidence.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { cardsActions, cardsValue, type CardsPlace } from './cards-actions.ts';
import { faceWords, sampleLine, type CardsContext, type CardShown } from './cards-message.ts';

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
