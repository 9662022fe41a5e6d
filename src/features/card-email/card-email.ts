import type { Account } from '../../account.ts';
import type { Approval, ApprovalGate } from '../../domain/approval.ts';
import type { OfferedCard } from '../../slack/kit/card-inputs.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import type { CardEmailTerms, ShownCardEmail } from '../../domain/card-email.ts';
import type { ChargeSeen, CardFace } from '../../domain/charge.ts';
import { createCardEmails, shownTerms, type CardEmails } from './change-card-email.ts';
import {
  cardEmailActions,
  cardEmailFields,
  cardEmailModal,
  cardEmailModalId,
  changingModal,
  endMessage,
  endModal,
  notLinkedProblem,
  reviewModal,
  reviewModalId,
  readCardEmailModal,
  sameProblem,
  staleChangeModal,
  type CardEmailForm,
  type CardEmailModalOptions,
} from './card-email-views.ts';
import {
  defineCommand,
  type Command,
  type Pressed,
  type Submission,
  type ViewAnswer,
} from '../../slack/command.ts';
import type { Modal } from '../../slack/kit/message.ts';
import type { KnownCardEmails, KnownCards } from '../../domain/known-cards.ts';
import {
  cardChoice,
  pasteAgainWords,
  suggestCards,
  changeEmailActionId,
} from '../../slack/words/card-words.ts';
import { nothingAfter } from '../../slack/nothing-after.ts';

/** What card e-mails need of other features. */
type Around = {
  /** Undefined when remembering cards is switched off: then every token key is pasted. */
  ledger: (KnownCards & KnownCardEmails) | undefined;
  /** Undefined: nothing needs a second person. */
  approvals: ApprovalGate | undefined;
  /** The window waits for what a second person decides. */
  awaitDecision: (approval: Approval, window: Pick<Submission, 'viewId' | 'caller'>) => Promise<ViewAnswer>;
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  /** There is no such charge: said where the button was pressed. */
  sayUnknownCharge: (pressed: Pressed) => Promise<void>;
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
    /** The form as it was, for the card of that id. */
    formAgain: async (shown: EmailPair, card: string): Promise<Modal> =>
      cardEmailModal({ ...formParts(screens), ...(await filledAgain(around.ledger, card, shown)) }),
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
    presses: [
      { actionId: cardEmailActions.again, press: (pressed) => correctAgain(deps, pressed) },
      {
        actionId: changeEmailActionId,
        opensForm: true,
        press: (pressed) => openForCharge(deps, pressed),
      },
    ],
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
  const form = readCardEmailModal(values);
  if (form.kind === 'errors') return form;
  const read = await readCardEmailTerms(form.form, deps.ledger);
  if (read.kind === 'errors') return read;
  const draft = await deps.cardEmails.keepDraft(viewId, read.terms);
  return { kind: 'update', modal: reviewModal(shownTerms(read.terms), draft, deps) };
}

/**
 * Acknowledged with *Changing …* however fast the service is: what it says of the current e-mail could not go
 * to its field by acknowledgement, because the submitted modal is the review, which has no fields.
 */
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
          const form = end.kind === 'not_linked' ? await formAgain(deps, viewId, draft) : undefined;
          const modal = form ?? endModal(end, { terms, draft }, deps);
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
      return await deps.awaitDecision(beginning.approval, submission);
    case 'stale':
      return { kind: 'update', modal: staleChangeModal(deps) };
  }
}

/** The form with the problem at its field. Undefined while the store is away: what became of it is told all the same. */
async function formAgain(deps: Screens, viewId: string, draft: string): Promise<Modal | undefined> {
  try {
    const read = await deps.cardEmails.readDraft(viewId, draft);
    if (!read) return undefined;
    const filled = await filledAgain(deps.ledger, read.card, read.terms);
    return cardEmailModal({ ...formParts(deps), ...filled, currentProblem: notLinkedProblem });
  } catch {
    return undefined;
  }
}

/** Back to the form, in the same dialogue; the button's value is what became of the change, if it was made. */
async function correctAgain(deps: Screens, pressed: Pressed): Promise<void> {
  const { view, value, updateModal } = pressed;
  if (!view) return;
  const read = await deps.cardEmails.readDraft(view.id, view.privateMetadata);
  if (!read) return await updateModal(staleChangeModal(deps));
  const { card, terms } = read;
  const { currentEmail, newEmail } = terms;
  const isOther = value === 'no_such_card';
  const filled = isOther
    ? { prefill: { currentEmail, newEmail } }
    : await filledAgain(deps.ledger, card, terms);
  await updateModal(cardEmailModal({ ...formParts(deps), ...filled }));
}

/** From a charge that was rejected for its e-mail; on top of its modal, so that it can be tried again from there. */
async function openForCharge(deps: Screens, pressed: Pressed): Promise<void> {
  const charge = await deps.findCharge(pressed.value);
  if (!charge) return await deps.sayUnknownCharge(pressed);
  const filled = await formForCharge(charge, deps.ledger);
  await pressed.openModal(cardEmailModal({ ...formParts(deps), ...filled }));
}

/** By block id; never what was typed. */
type Problem = { kind: 'errors'; errors: Record<string, string> };

/** What the filled form would change, whole: the card behind the choice, and the e-mail it is saved with. */
async function readCardEmailTerms(
  form: CardEmailForm,
  ledger: KnownCards | undefined,
): Promise<{ kind: 'terms'; terms: CardEmailTerms } | Problem> {
  const card = await readCard(form, ledger);
  if (!card) {
    const gone = 'The bot does not know this card any more. Choose another, or paste its token key.';
    return errorAt(cardEmailFields.card, gone);
  }
  const { tokenKey, face, linked } = card;
  const { newEmail } = form;
  const currentEmail = currentOf(form.currentEmail, linked);
  if (currentEmail === undefined) {
    const missing = 'The bot does not know this card’s e-mail. Type the one it is linked with now.';
    return errorAt(cardEmailFields.current, missing);
  }
  const same = sameProblem(currentEmail, newEmail);
  if (same !== undefined) return errorAt(cardEmailFields.next, same);
  return { kind: 'terms', terms: { tokenKey, card: face, currentEmail, newEmail } };
}

type Card = { tokenKey: string; face: CardFace; linked?: string | undefined };

/** A pasted token may be one of a card the bot knows: then people see which, and its typed e-mail stands. */
async function readCard({ card }: CardEmailForm, ledger: KnownCards | undefined): Promise<Card | undefined> {
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
function currentOf(typed: string | undefined, linked: string | undefined): string | undefined {
  if (typed === undefined) return linked || undefined;
  return typed.toLowerCase() === linked?.toLowerCase() ? linked : typed;
}

function errorAt(field: string, words: string): Problem {
  return { kind: 'errors', errors: { [field]: words } };
}

/**
 * For a charge that was rejected for its e-mail. The e-mail it was tried with is the new one, unless it is the
 * one the bot has for the card: then that knowledge is wrong, and the linked one must be typed.
 */
async function formForCharge(
  charge: ChargeSeen,
  ledger: KnownCards | undefined,
): Promise<Pick<CardEmailModalOptions, 'prefill' | 'problem'>> {
  const tried = charge.terms.customerEmail;
  const card = await ledger?.find(charge.card);
  if (!card) return { prefill: { newEmail: tried }, problem: pasteAgainWords };
  if (card.customerEmail?.toLowerCase() !== tried.toLowerCase()) {
    return { prefill: { card: cardChoice(card), newEmail: tried } };
  }
  const problem =
    'The service says that the card is not linked with the e-mail the bot knows. Type the one it is linked with as the current e-mail.';
  return { prefill: { card: cardChoice(card) }, problem };
}

type EmailPair = Pick<ShownCardEmail, 'currentEmail' | 'newEmail'>;

/** The form of a change of a card's e-mail as it was, but for a token key of a card that the bot does not know. */
async function filledAgain(
  ledger: KnownCards | undefined,
  id: string,
  { currentEmail, newEmail }: EmailPair,
): Promise<Pick<CardEmailModalOptions, 'prefill' | 'problem'>> {
  const card = await ledger?.find(id);
  if (!card) return { prefill: { currentEmail, newEmail }, problem: pasteAgainWords };
  return { prefill: { card: cardChoice(card), currentEmail, newEmail } };
}
