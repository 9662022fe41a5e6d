// The change of a card's e-mail on the screen: the form, the review, and what became of it, in the modal and, for who has
// closed it, as a direct message.

import type { CardEmailEnd, ShownCardEmail } from '../../domain/card-email.ts';
import type { FailureKind } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import {
  actions,
  bold,
  button,
  code,
  context,
  modal,
  noticeLine,
  plainText,
  rich,
  richText,
  textInput,
  type Run,
} from '../../slack/kit/blocks.ts';
import {
  cardInput,
  emailFormProblem,
  longestEmail,
  readCardChoice,
  tokenInput,
  type CardChoice,
  type OfferedCard,
} from '../../slack/kit/card-inputs.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { emailWord, labelled, type EmailShown } from '../../slack/words/charge-facts.ts';
import { messageFoot, placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';
import type { ViewValues } from '../../slack/command.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { customerWord, quoted } from '../../slack/words/evidence.ts';
import type { Modal, ModalBlock, SlackMessage } from '../../slack/kit/message.ts';
import { type Note, noteMessage, noteModal } from '../../slack/kit/note.ts';
import { oneLine } from '../../slack/kit/text.ts';

export const cardEmailActions = {
  /** The typeahead over saved cards; its block has the same id. */
  card: 'card_email_card',
  /** Back to the form from the review, or from what became of it. The modal says which draft. */
  again: 'card_email_again',
} as const;

export const cardEmailModalId = 'card_email';

/** The block ids of the fields; a field's error is told under the same name. */
export const cardEmailFields = {
  card: cardEmailActions.card,
  token: 'card_email_token',
  current: 'card_email_current',
  next: 'card_email_new',
} as const;

/** What a person typed and chose. */
export type CardEmailForm = {
  card: CardChoice;
  /** Absent: the one the card is saved with. */
  currentEmail?: string;
  newEmail: string;
};

export type CardEmailModalOptions = {
  place: ChargePlace;
  /** Whether saved cards are known and can be chosen. */
  ledger: boolean;
  prefill?: { card?: OfferedCard; currentEmail?: string; newEmail?: string };
  problem?: string;
  /** What is wrong with the current e-mail: stands right above its field, which has the cursor. */
  currentProblem?: string;
};

/** Collects a change of a card's e-mail; nothing is sent by it. */
export function cardEmailModal(options: CardEmailModalOptions): Modal {
  const { place, ledger, prefill = {}, problem } = options;
  const blocks: ModalBlock[] = [
    ...(problem === undefined ? [] : [noticeLine('warning', problem)]),
    richText(rich`You review it before anything is changed.`),
    ...(ledger ? [cardInput(cardEmailFields.card, prefill.card, { optional: true })] : []),
    tokenInput(cardEmailFields.token, ledger),
    ...currentInput(options),
    textInput({
      id: cardEmailFields.next,
      label: 'New e-mail',
      hint: 'Every later charge of the card needs it.',
      maxLength: longestEmail,
      ...filled(prefill.newEmail),
    }),
    placeFoot(place),
  ];
  return modal({
    callbackId: cardEmailModalId,
    title: placeTitle('Card e-mail', place),
    blocks,
    submit: 'Review',
  });
}

function currentInput({ ledger, prefill, currentProblem }: CardEmailModalOptions): ModalBlock[] {
  const input = textInput({
    id: cardEmailFields.current,
    label: 'Current e-mail',
    hint: ledger
      ? 'Leave empty to use the card’s saved e-mail. Required if you paste a token key.'
      : 'The one the card is saved with.',
    maxLength: longestEmail,
    optional: ledger,
    focus: currentProblem !== undefined,
    ...filled(prefill?.currentEmail),
  });
  return currentProblem === undefined ? [input] : [noticeLine('warning', currentProblem), input];
}

function filled(initial: string | undefined): { initial?: string } {
  return withoutUndefined({ initial: initial || undefined });
}

/** Everything that is wrong at once, each at its own field and without repeating what was typed. */
export function readCardEmailModal(
  values: ViewValues,
): { kind: 'read'; form: CardEmailForm } | { kind: 'errors'; errors: Record<string, string> } {
  const card = readCardChoice(values, cardEmailFields);
  // As the review shows them: what nobody sees is not sent either.
  const currentEmail = oneLine(values[cardEmailFields.current] ?? '') || undefined;
  const newEmail = oneLine(values[cardEmailFields.next] ?? '');
  const isPasted = card.ok && card.value.kind === 'pasted';
  const errors = withoutUndefined({
    [cardEmailFields.token]: card.ok ? undefined : card.problem,
    [cardEmailFields.current]: currentEmailProblem(currentEmail, isPasted),
    [cardEmailFields.next]: emailFormProblem(newEmail) ?? sameProblem(currentEmail, newEmail),
  });
  if (!card.ok || Object.keys(errors).length > 0) return { kind: 'errors', errors };
  return { kind: 'read', form: { card: card.value, newEmail, ...withoutUndefined({ currentEmail }) } };
}

function currentEmailProblem(email: string | undefined, isNeeded: boolean): string | undefined {
  if (email !== undefined) return emailFormProblem(email);
  return isNeeded ? 'Needed with a token key: the e-mail the card is saved with.' : undefined;
}

/** Letter for letter: whether the service tells upper from lower case is not shown, so case alone can be put right. */
export function sameProblem(currentEmail: string | undefined, newEmail: string): string | undefined {
  return currentEmail === newEmail ? 'The card has this e-mail already. Type another.' : undefined;
}

export const reviewModalId = 'card_email_terms';

/** The change, addresses whole; its submit button is what makes it. `draft` stands for exactly this, and is no secret. */
export function reviewModal(terms: ShownCardEmail, draft: string, place: ChargePlace): Modal {
  const { card, currentEmail, newEmail } = terms;
  const [old, now] = [currentEmail, newEmail].map((email) => bold(emailWord(email, 'whole')));
  return modal({
    callbackId: reviewModalId,
    title: placeTitle('Review', place),
    blocks: [
      richText(
        rich`Change the e-mail of ${bold(cardWords(card))} from ${old ?? ''} to ${now ?? ''}.`,
        rich`Charges with the old e-mail are refused from then on.`,
      ),
      actions(button({ actionId: cardEmailActions.again, text: 'Change' })),
      context(plainText('Nothing sent yet. Expires in 30 minutes.')),
      placeFoot(place),
    ],
    submit: 'Change the e-mail',
    close: 'Cancel',
    privateMetadata: draft,
  });
}

/** Nothing is submitted in any of these. */
function endWindow(note: Note, place: ChargePlace, draft?: string): Modal {
  const window = { callbackId: 'card_email_end', title: placeTitle('Card e-mail', place) };
  return noteModal(
    { ...note, foot: placeFoot(place) },
    { ...window, ...(draft === undefined ? {} : { privateMetadata: draft }) },
  );
}

/** While the service is asked. It stays only when the bot ends meanwhile, so it says what is true then, too. */
export function changingModal(terms: ShownCardEmail, place: ChargePlace): Modal {
  const note: Note = {
    state: '⏳ Changing the e-mail …',
    about: [cardWords(terms.card), emailWord(terms.newEmail, 'whole')],
    body: [
      rich`You may close this: the result comes as a direct message.`,
      labelled('If nothing comes within a minute', 'it may have been changed. ', doubtAdvice),
    ],
  };
  return endWindow(note, place);
}

/** What became of the change, with the way back to the form where that helps. */
export function endModal(
  end: CardEmailEnd,
  { terms, draft }: { terms: ShownCardEmail; draft: string },
  place: ChargePlace,
): Modal {
  const { again, body, ...note } = endNote(end, terms, 'whole');
  const back = again && button({ actionId: cardEmailActions.again, text: again, value: end.kind });
  const said = quoted('The service says:', end.message);
  return endWindow({ ...note, body: [...body, ...said], buttons: back ? [back] : [] }, place, draft);
}

/** The same for who has closed the modal: a direct message, with the addresses masked. */
export function endMessage(
  end: CardEmailEnd,
  terms: ShownCardEmail,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  const { state, about, body, again } = endNote(end, terms, 'masked');
  const next = again === undefined ? [] : rich`Type ${code('/pay card-email')} for it.`;
  return noteMessage({
    state,
    about: [...about, customerWord(terms.newEmail)],
    body: [...body, next, ...quoted('The service says:', end.message)],
    foot: messageFoot(place, 'answered', nowMs),
  });
}

/** The review is gone or different by now. */
export function staleChangeModal(place: ChargePlace): Modal {
  const next = labelled('Next', 'start over with ', code('/pay card-email'), '.');
  return endWindow({ state: '⌛ This review has expired', body: [rich`Nothing was changed.`, next] }, place);
}

/** `again`: the button back to the form, where that helps. */
type EndNote = { state: string; about: string[]; body: Run[][]; again?: string };

/** A lost answer leaves two possibilities, and the service tells them apart when it is asked the same again. */
const doubtAdvice = 'Do it again with the same addresses; that does no harm.';

function endNote(end: CardEmailEnd, terms: ShownCardEmail, shown: EmailShown): EndNote {
  const about = [cardWords(terms.card)];
  if (end.kind === 'changed') {
    const [old, now] = [emailWord(terms.currentEmail, shown), emailWord(terms.newEmail, shown)];
    return {
      state: '✓ E-mail changed',
      about,
      body: [
        rich`The e-mail is now ${bold(now)}. Charges with ${old} are refused.`,
        rich`${end.isListBehind ? behindWords : ''}`,
      ],
    };
  }
  if (end.kind === 'unknown') {
    return {
      state: '❔ In doubt: the e-mail may have been changed',
      about,
      body: [
        rich`The payments service gave no clear answer. No money moves by this.`,
        labelled('Next', doubtAdvice),
      ],
      again: 'Do it again',
    };
  }
  const { why, next, ...again } = notChangedWords[end.kind];
  return { state: '✗ E-mail not changed', about, body: [rich`${why}`, labelled('Next', next)], ...again };
}

const behindWords =
  'The bot’s list still has the old one, because its storage didn’t answer. Make the same change again.';

const madeByEarlierTry =
  'If an earlier try got no answer, it has probably changed it: charge with the new e-mail.';

/** Above the field of the current e-mail, when the service did not take it. */
export const notLinkedProblem = `Nothing was changed: this is not the card’s e-mail. ${madeByEarlierTry}`;

const correct = {
  next: 'check both addresses.',
  again: 'Correct and try again',
};

const notChangedWords: Record<
  Exclude<CardEmailEnd['kind'], 'changed' | 'unknown'>,
  { why: string; next: string; again?: string }
> = {
  not_linked: {
    why: 'The current e-mail is not the card’s.',
    next: `correct it. ${madeByEarlierTry}`,
    again: correct.again,
  },
  no_such_card: {
    why: 'The service doesn’t know this card.',
    next: 'choose another card, or let the customer save it again.',
    again: 'Choose another card',
  },
  email_invalid: { why: 'The service calls the e-mail invalid.', ...correct },
  invalid_request: { why: 'The service calls the request invalid.', ...correct },
  refused: { why: 'The service refused it.', ...correct },
  unauthorized: failed('unauthorized'),
  forbidden: failed('forbidden'),
  rate_limited: { ...failed('rate_limited'), again: 'Try again' },
};

function failed(failure: FailureKind): { why: string; next: string } {
  const { what, next } = failureWords[failure];
  return { why: `${what}.`, next };
}
