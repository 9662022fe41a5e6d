import type { Account } from '../../account.ts';
import type {
  Approval,
  ApprovalGate,
  CardEmailEnd,
  CardEmailTerms,
  ShownCardEmail,
} from '../../domain/approval.ts';
import {
  type CardChoice,
  type OfferedCard,
  cardInput,
  emailFormProblem,
  longestEmail,
  readCardChoice,
  tokenInput,
} from '../../slack/kit/form.ts';
import { type ChargePlace, messageFoot, placeFoot, placeTitle } from '../../slack/words/charge-place.ts';
import type { CardFace } from '../../domain/charge.ts';
import { type CardEmails, createCardEmails, shownTerms } from './change-card-email.ts';
import {
  type Command,
  type Pressed,
  type Submission,
  type ViewAnswer,
  type ViewValues,
  defineCommand,
} from '../../slack/command.ts';
import type { Modal, ModalBlock, SlackMessage } from '../../slack/kit/message.ts';
import type { KnownCardEmails, KnownCards } from '../../domain/saved-card.ts';
import { cardChoice, cardWords, pasteAgainWords, suggestCards } from '../../slack/words/card-words.ts';
import { nothingAfter } from '../../slack/command-text.ts';
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
} from '../../slack/kit/blocks.ts';
import { emailWord, labelled } from '../../slack/words/charge-facts.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { customerWord, quoted } from '../../slack/words/evidence.ts';
import { type Note, noteMessage, noteModal } from '../../slack/kit/note.ts';
import { oneLine } from '../../slack/kit/text.ts';

/** What card e-mails need of other features. */
type Around = {
  /** Undefined when remembering cards is switched off: then every token key is pasted. */
  ledger: (KnownCards & KnownCardEmails) | undefined;
  /** Undefined: nothing needs a second person. */
  approvals: ApprovalGate | undefined;
  /** What the window says of a change that a second person decides. */
  requestModal: (approval: Approval) => Modal;
};

type Screens = ChargePlace &
  Around & { cardEmails: CardEmails; showEnd: Account['slack']['showEnd']; now: () => number };

export type CardEmail = ReturnType<typeof createCardEmail>;

/** The e-mail that a saved card is linked with: changed on request, after a review, once (`change-card-email.ts`). */
export function createCardEmail(account: Account, around: Around) {
  const { place, payments, slack, audit, now } = account;
  const { changeCardEmail } = payments;
  const cardEmails = createCardEmails({ ...account, ...around, changeCardEmail, note: audit.note });
  const screens: Screens = { ...place, ...around, cardEmails, showEnd: slack.showEnd, now };
  return {
    verbs: [cardEmailCommand(screens)],
    /** The form with the card chosen. */
    form: (card: OfferedCard): Modal => cardEmailModal({ ...formParts(screens), prefill: { card } }),
    change: cardEmails.change,
  };
}

/**
 * `/pay card-email`: the form, the review of exactly what changes, the change, and what became of it, all in
 * one modal. Running it changes nothing; the change is asked for once for each review.
 */
function cardEmailCommand(deps: Screens): Command {
  return defineCommand<undefined>({
    verb: 'card-email',
    usage: '',
    summary: 'Change a card’s e-mail',
    examples: ['card-email'],
    permission: 'card-email',
    menu: { actionId: 'menu.card-email', text: 'Change a card’s e-mail', opens: 'modal' },
    opensForm: true,
    effect: 'none',
    // What was typed is not repeated: an e-mail address stays out of what the bot says.
    parse: nothingAfter('Type nothing after it: the card and both addresses are asked for in a form.'),
    modals: [
      { callbackId: cardEmailModalId, effect: 'none', submit: (submission) => review(deps, submission) },
      { callbackId: reviewModalId, effect: 'access', submit: (submission) => makeChange(deps, submission) },
    ],
    presses: [{ actionId: cardEmailActions.again, press: (pressed) => correctAgain(deps, pressed) }],
    suggestions: [{ actionId: cardEmailActions.card, suggest: (typed) => suggestCards(deps.ledger, typed) }],

    async run(_nothing, { openModal }) {
      await openModal(cardEmailModal(formParts(deps)));
      return undefined;
    },
  });
}

/** What every form has, whatever stands in it. */
function formParts(deps: Screens): Pick<CardEmailModalOptions, 'place' | 'ledger'> {
  return { place: deps, ledger: deps.ledger !== undefined };
}

/** Nothing is sent from here: the change is kept for review. */
async function review(deps: Screens, { viewId, values }: Submission): Promise<ViewAnswer> {
  const read = await readTerms(values, deps.ledger);
  if (read.kind === 'errors') return read;
  const draft = await deps.cardEmails.keepDraft(viewId, read.terms);
  return { kind: 'update', modal: reviewModal(shownTerms(read.terms), draft, deps) };
}

async function makeChange(deps: Screens, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, privateMetadata: draft } = submission;
  const beginning = await deps.cardEmails.begin({ viewId, draft, by: caller.userId });
  switch (beginning.kind) {
    case 'begun':
      return {
        kind: 'update',
        modal: changingModal(beginning.terms, deps),
        async carryOn() {
          const { terms } = beginning;
          const end = await beginning.carryOn();
          const modal = endModal(end, { terms, draft }, deps);
          const message = endMessage(end, terms, { place: deps, nowMs: deps.now() });
          await deps.showEnd({ viewId, userId: caller.userId }, { modal, message });
        },
      };
    case 'known': {
      const { terms, end } = beginning;
      const modal = end ? endModal(end, { terms, draft }, deps) : changingModal(terms, deps);
      return { kind: 'update', modal };
    }
    case 'awaiting_approval':
      return { kind: 'update', modal: deps.requestModal(beginning.approval) };
    case 'stale':
      return { kind: 'update', modal: staleChangeModal(deps) };
  }
}

/** Back to the form, in the same dialogue. */
async function correctAgain(deps: Screens, pressed: Pressed): Promise<void> {
  const { view, updateModal } = pressed;
  if (!view) return;
  const read = await deps.cardEmails.readDraft(view.id, view.privateMetadata);
  if (!read) return await updateModal(staleChangeModal(deps));
  const { currentEmail, newEmail } = read.terms;
  const card = await deps.ledger?.find(read.card);
  // A token key of a card that the bot does not know never stands in a modal.
  const problem = card ? {} : { problem: pasteAgainWords };
  const prefill = withoutUndefined({ card: card && cardChoice(card), currentEmail, newEmail });
  await updateModal(cardEmailModal({ ...formParts(deps), prefill, ...problem }));
}

/** By block id; never what was typed. */
type Problems = { kind: 'errors'; errors: Record<string, string> };

/**
 * What the filled form would change, whole: the card behind the choice, and the e-mail it is saved with. Everything that
 * is wrong at once, each at its own field.
 */
async function readTerms(
  values: ViewValues,
  ledger: KnownCards | undefined,
): Promise<{ kind: 'terms'; terms: CardEmailTerms } | Problems> {
  const choice = readCardChoice(values, cardEmailFields);
  // As the review shows them: what nobody sees is not sent either.
  const typed = oneLine(values[cardEmailFields.current] ?? '');
  const newEmail = oneLine(values[cardEmailFields.next] ?? '');
  const card = choice.ok ? await readCard(choice.value, ledger) : undefined;
  const currentEmail = currentOf(typed, card?.linked);
  const errors = withoutUndefined({
    [cardEmailFields.token]: choice.ok ? undefined : choice.problem,
    [cardEmailFields.card]:
      choice.ok && !card
        ? 'The bot does not know this card any more. Choose another, or paste its token key.'
        : undefined,
    [cardEmailFields.current]: typed === '' ? missingProblem(currentEmail, card) : emailFormProblem(typed),
    [cardEmailFields.next]: emailFormProblem(newEmail) ?? sameProblem(currentEmail, newEmail),
  });
  if (!card || currentEmail === undefined || Object.keys(errors).length > 0)
    return { kind: 'errors', errors };
  return { kind: 'terms', terms: { tokenKey: card.tokenKey, card: card.face, currentEmail, newEmail } };
}

type Card = { tokenKey: string; face: CardFace; linked?: string | undefined };

/** A pasted token may be one of a card the bot knows: then people see which, and its typed e-mail stands. */
async function readCard(card: CardChoice, ledger: KnownCards | undefined): Promise<Card | undefined> {
  if (card.kind === 'pasted') {
    const known = await ledger?.find(await ledger.idOf(card.tokenKey));
    return { tokenKey: card.tokenKey, face: known?.face ?? {} };
  }
  const known = await ledger?.find(card.id);
  return known && { tokenKey: known.tokenKey, face: known.face, linked: known.customerEmail?.trim() };
}

/**
 * What is typed stands, for a person may know of a change the bot has not heard of; but not for the sake of
 * capitals, which the service may take for another address.
 */
function currentOf(typed: string, linked: string | undefined): string | undefined {
  if (typed === '') return linked || undefined;
  return typed.toLowerCase() === linked?.toLowerCase() ? linked : typed;
}

function missingProblem(currentEmail: string | undefined, card: Card | undefined): string | undefined {
  return currentEmail === undefined && card
    ? 'The bot doesn’t know this card’s e-mail. Type the one it is saved with.'
    : undefined;
}

/** Letter for letter: whether the service tells upper from lower case is not shown, so case alone can be put right. */
function sameProblem(currentEmail: string | undefined, newEmail: string): string | undefined {
  return currentEmail === newEmail ? 'The card has this e-mail already. Type another.' : undefined;
}

const cardEmailActions = {
  /** The typeahead over saved cards; its block has the same id. */
  card: 'card_email_card',
  /** Back to the form from the review, or from what became of it. The modal says which draft. */
  again: 'card_email_again',
} as const;

const cardEmailModalId = 'card_email';

/** The block ids of the fields; a field's error is told under the same name. */
export const cardEmailFields = {
  card: cardEmailActions.card,
  token: 'card_email_token',
  current: 'card_email_current',
  next: 'card_email_new',
} as const;

type CardEmailModalOptions = {
  place: ChargePlace;
  /** Whether saved cards are known and can be chosen. */
  ledger: boolean;
  prefill?: { card?: OfferedCard; currentEmail?: string; newEmail?: string };
  problem?: string;
};

/** Collects a change of a card's e-mail; nothing is sent by it. */
export function cardEmailModal({ place, ledger, prefill = {}, problem }: CardEmailModalOptions): Modal {
  const blocks: ModalBlock[] = [
    ...(problem === undefined ? [] : [noticeLine('warning', problem)]),
    richText(rich`You review it before anything is changed.`),
    ...(ledger ? [cardInput(cardEmailFields.card, prefill.card, { optional: true })] : []),
    tokenInput(cardEmailFields.token, ledger),
    textInput({
      id: cardEmailFields.current,
      label: 'Current e-mail',
      hint: ledger
        ? 'Leave empty to use the card’s saved e-mail. Required if you paste a token key.'
        : 'The one the card is saved with.',
      maxLength: longestEmail,
      optional: ledger,
      ...filled(prefill.currentEmail),
    }),
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

function filled(initial: string | undefined): { initial?: string } {
  return withoutUndefined({ initial: initial || undefined });
}

const reviewModalId = 'card_email_terms';

/** The change, addresses whole; its submit button is what makes it. `draft` stands for exactly this, and is no secret. */
export function reviewModal(terms: ShownCardEmail, draft: string, place: ChargePlace): Modal {
  const { card, currentEmail, newEmail } = terms;
  const [old, now] = [currentEmail, newEmail].map((email) => bold(emailWord(email)));
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
    about: aboutOf(terms),
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
  const { note, again } = endNote(end, terms);
  const back = again === undefined ? [] : [button({ actionId: cardEmailActions.again, text: again })];
  return endWindow({ ...note, buttons: back }, place, draft);
}

/** The same for who has closed the modal: a direct message. */
export function endMessage(
  end: CardEmailEnd,
  terms: ShownCardEmail,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  const { note, again } = endNote(end, terms);
  const next = again === undefined ? [] : [rich`Type ${code('/pay card-email')} for it.`];
  const body = [...(note.body ?? []), ...next];
  return noteMessage({ ...note, body, foot: messageFoot(place, 'answered', nowMs) });
}

/** The review is gone or different by now. */
function staleChangeModal(place: ChargePlace): Modal {
  const next = labelled('Next', 'start over with ', code('/pay card-email'), '.');
  return endWindow({ state: '⌛ This review has expired', body: [rich`Nothing was changed.`, next] }, place);
}

/** A lost answer leaves two possibilities, and the service tells them apart when it is asked the same again. */
const doubtAdvice = 'Do it again with the same addresses; that does no harm.';

function aboutOf({ card, newEmail }: ShownCardEmail): string[] {
  return [cardWords(card), customerWord(newEmail)];
}

/** `again`: the button back to the form, where that helps. */
function endNote(end: CardEmailEnd, terms: ShownCardEmail): { note: Note; again?: string } {
  const about = aboutOf(terms);
  const said = quoted('The service says:', end.message);
  if (end.kind === 'changed') {
    const body = [rich`Charges with the old e-mail are refused from now on.`, ...said];
    return { note: { state: '✓ E-mail changed', about, body } };
  }
  if (end.kind === 'unknown') {
    const body = [
      rich`The payments service gave no clear answer. No money moves by this.`,
      labelled('Next', doubtAdvice),
      ...said,
    ];
    const state = '❔ In doubt: the e-mail may have been changed';
    return { note: { state, about, body }, again: 'Do it again' };
  }
  const { why, next, ...again } = notChangedWords[end.kind];
  const body = [rich`${why}`, labelled('Next', next), ...said];
  return { note: { state: '✗ E-mail not changed', about, body }, ...again };
}

const madeByEarlierTry =
  'If an earlier try got no answer, it has probably changed it: charge with the new e-mail.';

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
