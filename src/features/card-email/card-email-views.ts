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
  headline,
  modal,
  noticeLine,
  plainText,
  richText,
  textInput,
  words,
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
import { emailWord, labelled, plain, type EmailShown } from '../../slack/words/charge-facts.ts';
import { messageFoot, placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';
import type { ViewValues } from '../../slack/command.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { customerWord, environmentWords, quoted } from '../../slack/words/evidence.ts';
import type { Modal, ModalBlock, SlackMessage } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';

export const cardEmailActions = {
  /** The typeahead over saved cards; its block has the same id. */
  card: 'card_email_card',
  /** Back to the form from what was read back, or from what became of it. The modal says which draft. */
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
    richText([
      words('Changes the e-mail that a saved card is linked with, never the card. You read it back first.'),
    ]),
    ...(ledger ? [cardInput(cardEmailFields.card, prefill.card)] : []),
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
    submit: 'Read it back',
  });
}

function currentInput({ ledger, prefill, currentProblem }: CardEmailModalOptions): ModalBlock[] {
  const input = textInput({
    id: cardEmailFields.current,
    label: 'Current e-mail',
    hint: ledger
      ? 'Empty: the one the card is saved with. Needed when a token key is pasted.'
      : 'The one the card is linked with now; the service refuses any other.',
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
  // As they are shown when they are read back: what nobody sees is not sent either.
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
  return isNeeded ? 'Needed with a pasted token key: the e-mail the card is linked with now.' : undefined;
}

/** Letter for letter: whether the service tells upper from lower case is not shown, so case alone can be put right. */
export function sameProblem(currentEmail: string | undefined, newEmail: string): string | undefined {
  return currentEmail === newEmail ? 'The card is linked with this e-mail already. Type another.' : undefined;
}

export const readBackModalId = 'card_email_terms';

const placeWords = {
  live: 'the change is real.',
  sandbox: 'a test; the answer is a fixed sample, and no real card changes.',
};

/**
 * Reads the change back, addresses whole; its submit button is what makes it. `draft` stands for exactly this, is no
 * secret, and is the modal's metadata.
 */
export function readBackModal(terms: ShownCardEmail, draft: string, place: ChargePlace): Modal {
  const { environment } = place;
  return modal({
    callbackId: readBackModalId,
    title: placeTitle('Read it back', place),
    blocks: [
      headline('Change a card’s e-mail', []).block,
      richText(
        plain(
          'You are about to change the e-mail of ',
          bold(cardWords(terms.card)),
          ' from ',
          bold(emailWord(terms.currentEmail, 'whole')),
          ' to ',
          bold(emailWord(terms.newEmail, 'whole')),
          '.',
        ),
        plain(
          'Only the e-mail changes, never the card. Charges with the old address are rejected from then on.',
        ),
      ),
      noticeLine(
        environment === 'live' ? 'warning' : 'info',
        `${environmentWords[environment]}: ${placeWords[environment]}`,
      ),
      actions(button({ actionId: cardEmailActions.again, text: 'Correct it' })),
      context(plainText('Nothing has been sent yet. This can be agreed to for half an hour.')),
      placeFoot(place),
    ],
    submit: 'Change the e-mail',
    close: 'Do not change',
    privateMetadata: draft,
  });
}

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
  const { state, lines, again } = endWords(end, terms, 'whole');
  const back = again && button({ actionId: cardEmailActions.again, text: again, value: end.kind });
  return modal({
    callbackId: endModalId,
    title: placeTitle('Card e-mail', place),
    blocks: [
      headline(state, [cardWords(terms.card)]).block,
      richText(...lines),
      ...quoted('The service’s own words:', end.message),
      ...(back ? [actions(back)] : []),
      placeFoot(place),
    ],
    privateMetadata: draft,
  });
}

/** The same for who has closed the modal: a direct message, with the addresses masked. */
export function endMessage(
  end: CardEmailEnd,
  terms: ShownCardEmail,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  const { state, lines, again } = endWords(end, terms, 'masked');
  const { text, block } = headline(state, [cardWords(terms.card), customerWord(terms.newEmail)]);
  const next = again === undefined ? [] : [plain('Type ', code('/pay card-email'), ' for it.')];
  return {
    text,
    blocks: [
      block,
      richText(...lines, ...next),
      ...quoted('The service’s own words:', end.message),
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

/** `state`: symbol and words. `again`: the button back to the form, where that helps. */
type EndWords = { state: string; lines: Run[][]; again?: string };

/** A lost answer leaves two possibilities, and the service tells them apart when it is asked the same again. */
const doubtAdvice =
  'do it again with the same addresses; asking twice does no harm. If the service then says that the current address is not the one linked to the card, either the first try has changed it, or it was not the linked one before.';

function endWords(end: CardEmailEnd, terms: ShownCardEmail, shown: EmailShown): EndWords {
  if (end.kind === 'changed') {
    const [old, now] = [emailWord(terms.currentEmail, shown), emailWord(terms.newEmail, shown)];
    return {
      state: '✓ E-mail changed',
      lines: [
        plain('The e-mail of ', bold(cardWords(terms.card)), ' is now ', bold(now), '.'),
        plain('The old address no longer works: charges with ', old, ' are rejected.'),
        ...(end.isListBehind ? [labelled('The bot’s list of cards', behindWords)] : []),
      ],
    };
  }
  if (end.kind === 'unknown') {
    return {
      state: '❔ In doubt: the e-mail may have been changed',
      lines: [
        labelled('What happened', 'the payments service gave no answer that says whether it did it.'),
        labelled('Money', 'none moves by this. Until it is clear, a charge may be rejected for its e-mail.'),
        labelled('Next', doubtAdvice),
      ],
      again: 'Do it again',
    };
  }
  const { why, next, ...again } = notChangedWords[end.kind];
  const lines = [labelled('Why', why), labelled('Next', next)];
  return { state: '✗ E-mail not changed', lines, ...again };
}

const behindWords =
  'still has the old address, because the bot’s store did not answer. Make the same change again: the service will say that the address is not the linked one, and the bot then asks for the address at the next charge.';

const madeByEarlierTry =
  'If an earlier try of the same change had no answer, that one has probably made it: then charge with the new e-mail.';

/** Above the field of the current e-mail, when the service did not take it. */
export const notLinkedProblem = `Nothing was changed: the service says that this is not the e-mail linked to the card. Correct it here. ${madeByEarlierTry}`;

const correct = {
  next: 'compare the addresses with the service’s words, if it sent any.',
  again: 'Correct and try again',
};

const notChangedWords: Record<
  Exclude<CardEmailEnd['kind'], 'changed' | 'unknown'>,
  { why: string; next: string; again?: string }
> = {
  not_linked: {
    why: 'the current e-mail that was given is not the one linked to the card.',
    next: `correct the current e-mail. ${madeByEarlierTry}`,
    again: correct.again,
  },
  no_such_card: {
    why: 'the service does not know this card’s token. It does not exist, was deleted, or was saved by another account.',
    next: 'choose another card, or have the customer save the card anew.',
    again: 'Choose another card',
  },
  email_invalid: { why: 'the service does not take the e-mail as a valid one.', ...correct },
  invalid_request: { why: 'the service found the request itself invalid.', ...correct },
  refused: { why: 'the service refused the request for a reason it words itself.', ...correct },
  unauthorized: failed('unauthorized'),
  forbidden: failed('forbidden'),
  rate_limited: { ...failed('rate_limited'), again: 'Try again' },
};

function failed(failure: FailureKind): { why: string; next: string } {
  const { what, next } = failureWords[failure];
  return { why: `${what}.`, next };
}
