import type { Account } from '../../account.ts';
import type {
  Approval,
  ApprovalGate,
  CardEmailEnd,
  CardEmailTerms,
  ShownCardEmail,
} from '../../domain/approval.ts';
import {
  type OfferedCard,
  cardInput,
  email,
  form,
  optional,
  readCardChoice,
  tokenInput,
} from '../../slack/kit/form.ts';
import { type ShownAccount, checkedFoot, accountFoot, accountWords } from '../../slack/words/account-foot.ts';
import type { KnownCards } from '../../domain/card.ts';
import { type KnownCardEmails, createEmailChanges, shownTerms } from './change-card-email.ts';
import {
  type FormErrors,
  type Pressed,
  type Submission,
  type ViewAnswer,
  type ViewValues,
  defineCommand,
} from '../../slack/command.ts';
import type { Modal, ViewBlock, SlackMessage } from '../../slack/kit/message.ts';
import {
  cardWords,
  chosenCard,
  offeredCard,
  pasteAgainWords,
  suggestCards,
  unknownCardWords,
} from '../../slack/words/card-words.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import type { FailureKind } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/json.ts';
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
  type Run,
} from '../../slack/kit/blocks.ts';
import { emailWord, labelled } from '../../slack/words/charge-facts.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { customerWord, quoted } from '../../slack/words/payment-words.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { messageModal } from '../../slack/kit/modals.ts';

type CardEmailNeeds = {
  /** Undefined if the bot remembers no cards; then people paste token keys. */
  ledger: (KnownCards & KnownCardEmails) | undefined;
  approvals: ApprovalGate;
  requestModal: (approval: Approval) => Modal;
};

export type CardEmail = ReturnType<typeof createCardEmail>;

/**
 * `/pay card-email` changes the e-mail of a saved card: one modal shows the form, the review of the exact change, and
 * the result. The service is called once per review (`change-card-email.ts`).
 */
export function createCardEmail(account: Account, { ledger, approvals, requestModal }: CardEmailNeeds) {
  const { shownAccount, slack, now } = account;
  const changes = createEmailChanges(account, ledger, approvals);
  const formOf = (prefill?: Prefill, problem?: string): Modal =>
    cardEmailModal(shownAccount, ledger !== undefined, prefill, problem);

  /** Stores the change and shows it for review. Sends nothing. */
  async function review({ values }: Submission): Promise<ViewAnswer> {
    const read = await readTerms(values, ledger);
    if (read.kind === 'errors') return read;
    const draft = await changes.keepDraft(read.terms);
    return { kind: 'update', modal: reviewModal(shownTerms(read.terms), draft, shownAccount) };
  }

  async function makeChange(submission: Submission): Promise<ViewAnswer> {
    const { caller, viewId, privateMetadata: draft } = submission;
    const { userId } = caller;
    const beginning = await changes.begin(draft, userId);
    switch (beginning.kind) {
      case 'begun': {
        const { terms } = beginning;
        return {
          kind: 'update',
          modal: resultModal(changingMessage(terms, shownAccount)),
          async carryOn() {
            const message = endMessage(await beginning.carryOn(), { terms, draft }, shownAccount, now());
            await slack.showResult({ viewId, userId }, { modal: resultModal(message), message });
          },
        };
      }
      case 'known': {
        const { terms, end } = beginning;
        const message = end
          ? endMessage(end, { terms, draft }, shownAccount, now())
          : changingMessage(terms, shownAccount);
        return { kind: 'update', modal: resultModal(message) };
      }
      case 'awaiting_approval':
        return { kind: 'update', modal: requestModal(beginning.approval) };
      case 'stale':
        return { kind: 'update', modal: resultModal(staleMessage(shownAccount)) };
    }
  }

  /** Reopens the form, filled in: in the same modal, or in a new one if the button is in a direct message. */
  async function reopenForm({ value, view, openModal, updateModal }: Pressed): Promise<void> {
    const draft = await changes.readDraft(value);
    const card = draft && (await ledger?.find(draft.card));
    const { currentEmail, newEmail } = draft?.terms ?? {};
    // For a card that the bot doesn't know, the person must paste the token key again: it must never return to a modal.
    const modal = draft
      ? formOf(
          withoutUndefined({ card: card && offeredCard(card), currentEmail, newEmail }),
          card ? undefined : pasteAgainWords,
        )
      : resultModal(staleMessage(shownAccount));
    await (view ? updateModal(modal) : openModal(modal));
  }

  const verb = defineCommand<undefined>({
    verb: 'card-email',
    usage: '',
    summary: 'Card’s e-mail',
    examples: ['card-email'],
    permission: 'card-email',
    menu: { actionId: 'menu.card-email', text: 'Change a card’s e-mail', opens: 'modal' },
    opensForm: true,
    effect: 'none',
    // Don't repeat the typed words: the bot never shows an e-mail address there.
    parse: nothingAfter('Type nothing after it: the card and both addresses are asked for in a form.'),
    modals: [
      { callbackId: cardEmailModalId, effect: 'none', submit: review },
      { callbackId: reviewModalId, effect: 'access', submit: makeChange },
    ],
    presses: [{ actionId: cardEmailActions.again, press: reopenForm }],
    suggestions: [{ actionId: cardEmailActions.card, suggest: (typed) => suggestCards(ledger, typed) }],

    async run(_nothing, { openModal }) {
      await openModal(formOf());
      return undefined;
    },
  });
  return {
    verbs: [verb],
    form: (card: OfferedCard): Modal => formOf({ card }),
    change: changes.change,
    /** For tests. */
    changes,
  };
}

/**
 * Reads the form. Returns the change, unmasked, with the chosen card and its current e-mail; or all problems by field.
 */
async function readTerms(
  values: ViewValues,
  ledger: KnownCards | undefined,
): Promise<{ kind: 'terms'; terms: CardEmailTerms } | FormErrors> {
  const filled = emailFields(ledger !== undefined).read(values);
  const choice = readCardChoice(values, cardEmailFields);
  const card = choice.ok ? await chosenCard(choice.value, ledger) : undefined;
  if (filled.kind === 'errors' || !card) {
    const unknown = { [cardEmailFields.card]: unknownCardWords };
    const cardErrors = choice.ok ? (card ? {} : unknown) : { [cardEmailFields.token]: choice.problem };
    return { kind: 'errors', errors: { ...(filled.kind === 'errors' ? filled.errors : {}), ...cardErrors } };
  }
  const { current: typed, new: newEmail } = filled.read;
  const currentEmail = currentOf(typed, card.saved);
  if (currentEmail === undefined) {
    const words = 'Type the e-mail that the card is saved with.';
    return { kind: 'errors', errors: { card_email_current: words } };
  }
  // Compare exactly: the service may tell addresses apart that differ only in case.
  if (currentEmail === newEmail) {
    return { kind: 'errors', errors: { card_email_new: 'The card has this e-mail already. Type another.' } };
  }
  return { kind: 'terms', terms: { tokenKey: card.tokenKey, card: card.face, currentEmail, newEmail } };
}

/**
 * The card's current e-mail: the typed one, since the person may know of a change that the bot has missed. But if it
 * differs from the saved one only in case, the saved one: the service may tell the two apart.
 */
function currentOf(typed: string | undefined, saved: string | undefined): string | undefined {
  return typed === undefined || typed.toLowerCase() === saved?.toLowerCase() ? saved || undefined : typed;
}

const cardEmailActions = {
  /** The search field for saved cards; its block has the same id. */
  card: 'card_email_card',
  /** Reopens the form from the review or the result. The value is the draft's id. */
  again: 'card_email_again',
} as const;

const cardEmailModalId = 'card_email';

const cardEmailFields = { card: cardEmailActions.card, token: 'card_email_token' } as const;

/** The inputs for both addresses. `ledger`: people can choose saved cards, whose e-mail the bot knows. */
function emailFields(ledger: boolean) {
  const hint = ledger
    ? 'Leave empty to use the card’s saved e-mail. Required if you paste a token key.'
    : 'The one the card is saved with.';
  const current = email({ label: 'Current e-mail', hint });
  return form('card_email', {
    current: ledger ? optional(current) : current,
    new: email({ label: 'New e-mail', hint: 'Every later charge of the card needs it.' }),
  });
}

type Prefill = { card?: OfferedCard; currentEmail?: string; newEmail?: string };

/** The form for a change; submitting it sends nothing yet. `ledger`: people can choose saved cards. */
export function cardEmailModal(
  account: ShownAccount,
  ledger: boolean,
  prefill: Prefill = {},
  problem?: string,
): Modal {
  const blocks: ViewBlock[] = [
    ...(problem === undefined ? [] : [noticeLine('warning', problem)]),
    richText(rich`You review it before anything is changed.`),
    ...(ledger ? [cardInput(cardEmailFields.card, prefill.card, { optional: true })] : []),
    tokenInput(cardEmailFields.token, ledger),
    ...emailFields(ledger).inputs({ current: prefill.currentEmail, new: prefill.newEmail }),
    accountFoot(account),
  ];
  return modal({
    callbackId: cardEmailModalId,
    title: 'Card e-mail',
    blocks,
    submit: 'Review',
  });
}

const reviewModalId = 'card_email_terms';

/** The review, with unmasked addresses; submitting it makes the change. `draft`: its id, which is no secret. */
export function reviewModal(terms: ShownCardEmail, draft: string, account: ShownAccount): Modal {
  const { card, currentEmail, newEmail } = terms;
  const [old, now] = [currentEmail, newEmail].map((email) => bold(emailWord(email)));
  return modal({
    callbackId: reviewModalId,
    title: 'Review',
    blocks: [
      richText(
        rich`Change the e-mail of ${bold(cardWords(card))} from ${old ?? ''} to ${now ?? ''}.`,
        rich`Charges with the old e-mail are refused from then on.`,
      ),
      actions(button({ actionId: cardEmailActions.again, text: 'Change', value: draft })),
      context(
        plainText(accountWords(account.environment, account.account)),
        plainText('Nothing sent yet. Expires in 30 minutes.'),
      ),
    ],
    submit: 'Change the e-mail',
    privateMetadata: draft,
  });
}

function resultModal(message: SlackMessage): Modal {
  return messageModal('Card e-mail', message);
}

/** Shown during the call. After a crash it stays on screen, so it also says what to do then. */
export function changingMessage(terms: ShownCardEmail, account: ShownAccount): SlackMessage {
  return noteMessage({
    state: '⏳ Changing the e-mail …',
    about: aboutOf(terms),
    body: [
      rich`You may close this: the result comes as a direct message.`,
      labelled('If nothing comes within a minute', 'it may have been changed: ', doubtAdvice),
    ],
    foot: accountFoot(account),
  });
}

/** The result of the change. If another try may help, with a button that reopens the form. */
export function endMessage(
  end: CardEmailEnd,
  { terms, draft }: { terms: ShownCardEmail; draft: string },
  account: ShownAccount,
  nowMs: number,
): SlackMessage {
  const about = aboutOf(terms);
  const { state, lines, again } = endWords(end.kind);
  return noteMessage({
    state,
    about,
    body: [...lines, ...quoted('The service says:', end.message)],
    buttons:
      again === undefined ? [] : [button({ actionId: cardEmailActions.again, text: again, value: draft })],
    foot: checkedFoot(account, nowMs),
  });
}

function staleMessage(account: ShownAccount): SlackMessage {
  const next = labelled('Next', 'start over with ', code('/pay card-email'), '.');
  const body = [rich`Nothing was changed.`, next];
  return noteMessage({ state: '⌛ This review has expired', body, foot: accountFoot(account) });
}

/** After a lost answer a repeat is safe: the service's next answer shows whether the change was made. */
const doubtAdvice = 'do it again with the same addresses; that does no harm.';

function aboutOf({ card, newEmail }: ShownCardEmail): string[] {
  return [cardWords(card), customerWord(newEmail)];
}

/** The words for each result. `again`: the label of the button that reopens the form. */
function endWords(kind: CardEmailEnd['kind']): { state: string; lines: Run[][]; again?: string } {
  switch (kind) {
    case 'changed':
      return {
        state: '✓ E-mail changed',
        lines: [rich`Charges with the old e-mail are refused from now on.`],
      };
    case 'unknown':
      return {
        state: '❔ In doubt: the e-mail may have been changed',
        lines: [
          rich`The payments service gave no clear answer. No money moves.`,
          labelled('Next', doubtAdvice),
        ],
        again: 'Do it again',
      };
    default: {
      const { why, next, ...again } = notChangedWords[kind];
      return { state: '✗ E-mail not changed', lines: [rich`${why}`, labelled('Next', next)], ...again };
    }
  }
}

const madeByEarlierTry = 'If an earlier try got no answer, it probably worked: charge with the new e-mail.';

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
