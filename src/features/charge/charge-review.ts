import { z } from 'zod';
import type { Account } from '../../account.ts';
import type { AlertTaken, OpenPayment } from '../../domain/alert.ts';
import type { Approval, ApprovalNeeded } from '../../domain/approval.ts';
import type { KnownCards } from '../../domain/card.ts';
import { asAccepted, type ChargeTerms, type ShownTerms, type Twin } from '../../domain/charge.ts';
import type { CardRefusal } from './card-history.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type {
  Conversation,
  FormErrors,
  ModalDefinition,
  Pressed,
  Submission,
  ViewAnswer,
  ViewValues,
} from '../../slack/command.ts';
import {
  type Run,
  actions,
  bold,
  button,
  code,
  context,
  fields,
  header,
  modal,
  person,
  plainText,
  richText,
  textInput,
} from '../../slack/kit/blocks.ts';
import { codec } from '../../slack/kit/form.ts';
import { limits } from '../../slack/kit/limits.ts';
import type { Modal, ViewBlock, SlackMessage } from '../../slack/kit/message.ts';
import { loadingModal, messageModal } from '../../slack/kit/modals.ts';
import { oneLine, outsideText } from '../../slack/kit/text.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { amountWord, emailWord, labelled, plain, termFields } from '../../slack/words/charge-facts.ts';
import { alertRuns } from '../../slack/words/alert-news.ts';
import { type ShownAccount, accountWords } from '../../slack/words/account-foot.ts';
import { referenceRun, word } from '../../slack/words/payment-words.ts';
import { holdLines } from '../../slack/words/next-steps.ts';
import { openPaymentBlocks, timeAgo, twinBlocks } from '../../slack/words/twins.ts';
import type { ChargeOperations } from './charge-operations.ts';
import { type ChargeForm, chargeFields, chargeModalId } from './charge-form.ts';
import {
  chargeActions,
  type ChargeViews,
  linkButton,
  showButton,
  unsureChargeModal,
} from './charge-modal.ts';
import { limitProblem, limitRefusalModal, notChargedModal } from './limit-words.ts';
import type { SubmitNeeds } from './submit-charge.ts';

export type ReviewNeeds = {
  /** Undefined if the bot remembers no cards: every token key is pasted. */
  ledger: KnownCards | undefined;
  requestModal: (approval: Approval) => Modal;
  /** The message that no charge can be begun from an alert now, with the reason. */
  takenMessage: (taken: AlertTaken, askedBy: string) => SlackMessage;
};

/**
 * Form and review are one dialogue, identified by its view id. If reading the form fails, nothing was sent. If
 * submitting the review fails, the outcome is in doubt: its `carryOn` may have sent the charge.
 */
export function createReview(
  { shownAccount, now, slack }: Pick<Account, 'shownAccount' | 'now' | 'slack'>,
  parts: {
    operations: ChargeOperations;
    form: ChargeForm;
    views: ChargeViews;
    needs: ReviewNeeds & Pick<SubmitNeeds, 'openPayments'>;
  },
) {
  const { operations, form, views, needs } = parts;

  /** Shown if the reviewed terms are gone or were changed. */
  function expiredModal(alert?: string): Modal {
    const next =
      alert === undefined
        ? labelled('Next', 'start over with ', code('/pay charge'), '.')
        : labelled('Next', 'press Charge again… on ', ...alertRuns(alert), '.');
    const note = { state: '⌛ This review has expired', body: [plain('Nothing was charged.'), next] };
    return notChargedModal(note, shownAccount);
  }

  /** Says why in the same words as the alert's *Charge again…*. */
  const alertTakenModal = (taken: AlertTaken, userId: string): Modal =>
    messageModal('Not charged', needs.takenMessage(taken, userId));

  /** Stores the terms and shows them for review. Sends nothing. */
  async function review(submission: Submission): Promise<ViewAnswer> {
    const { viewId, values, caller } = submission;
    const alert = submission.privateMetadata || undefined;
    const taken = alert === undefined ? undefined : await operations.alertTaken(alert, viewId);
    if (taken) return update(alertTakenModal(taken, caller.userId));
    const read = await form.read(values);
    if (read.kind === 'errors') return read;
    const terms: ChargeTerms = { ...read.terms, ...withoutUndefined({ alert }) };
    const reviewed = await operations.review({ viewId, terms, by: caller.userId });
    if (reviewed.kind === 'over_limit') {
      return { kind: 'errors', errors: { [chargeFields.amount]: limitProblem(reviewed.refusal) } };
    }
    const draft = await operations.keepDraft(viewId, terms);
    return update(await reviewModal(reviewed, terms, draft));
  }

  async function reviewModal(
    reviewed: Pick<ReviewModalOptions, 'hold' | 'twins' | 'approval'>,
    terms: ChargeTerms,
    draft: string,
  ): Promise<Modal> {
    const asked = shown(terms);
    const open = await needs.openPayments(asked);
    return chargeReviewModal({ ...reviewed, open, shownAccount, terms: asked, draft, nowMs: now() });
  }

  /** The review of these terms with all restrictions of now. `draft`: their id; default: they are stored first. */
  async function reviewOf(terms: ChargeTerms, viewId: string, by: string, draft?: string): Promise<Modal> {
    const reviewed = await operations.review({ viewId, terms, by });
    if (reviewed.kind === 'over_limit') return limitRefusalModal(reviewed.refusal, shownAccount);
    const id = draft ?? (await operations.keepDraft(viewId, terms));
    return await reviewModal(reviewed, terms, id);
  }

  /** Opens the review without a form, as a new dialogue. */
  async function open(terms: ChargeTerms, { caller, openModal }: Conversation): Promise<void> {
    const viewId = await openModal(loadingModal());
    const modal = await reviewOf(terms, viewId, caller.userId);
    await slack.showResult({ viewId, userId: caller.userId }, { modal });
  }

  /**
   * Charges the reviewed terms, or asks for approval. A second submit of the dialogue finds the charge or request of
   * the first.
   */
  async function submit(submission: Submission): Promise<ViewAnswer> {
    const { caller, viewId, privateMetadata, values } = submission;
    const read = readReview(values, privateMetadata);
    if (read.kind === 'errors') return read;
    if (read.kind === 'stale') return update(expiredModal());
    const { kind: _read, alert, ...confirmed } = read;
    const result = await operations.submit({ viewId, by: caller.userId, ...confirmed });
    switch (result.kind) {
      case 'begun':
        return views.showAndCarryOn(result.charge, submission, result.carryOn);
      case 'known':
        return views.showAndCarryOn(result.charge, submission);
      case 'refused':
      case 'twin':
        return update(await reviewAgain(submission, read));
      case 'over_limit':
        return update(limitRefusalModal(result.refusal, shownAccount));
      case 'awaiting_approval':
        return update(needs.requestModal(result.approval));
      case 'alert_taken':
        return update(alertTakenModal(result.taken, caller.userId));
      case 'stale':
        return update(expiredModal(alert));
      case 'unsure':
        return update(unsureChargeModal(result.reference, shownAccount));
    }
  }

  /**
   * The review of the same terms with new facts: a hold, twins (equal recent charges), or other open payments. Submitting
   * it accepts those twins and payments.
   */
  async function reviewAgain(
    { viewId, caller }: Submission,
    { draft, alert }: ReviewMetadata,
  ): Promise<Modal> {
    const stored = await operations.readDraft(viewId, draft);
    return stored ? await reviewOf(stored.terms, viewId, caller.userId, draft) : expiredModal(alert);
  }

  /** Back to the form in the same dialogue. If the dialogue has charged already, submitting again shows that charge. */
  async function change({ view, updateModal }: Pressed): Promise<void> {
    if (!view) return;
    const shownReview = reviewMetadata.read(view.privateMetadata);
    const stored = shownReview && (await operations.readDraft(view.id, shownReview.draft));
    if (!stored) return await updateModal(expiredModal(shownReview?.alert));
    const { terms } = stored;
    // Without a ledger no card is known, so its token key must be pasted again.
    const card = (await needs.ledger?.idOf(terms.tokenKey)) ?? '';
    await updateModal(await form.refilled(terms, card));
  }

  /** The terms under review. Without them shows that the review has expired. */
  async function readShown(pressed: Pressed): Promise<{ terms: ShownTerms; by: string } | undefined> {
    const { view, caller, updateModal } = pressed;
    const shownReview = view && reviewMetadata.read(view.privateMetadata);
    const stored = shownReview && (await operations.readDraft(view.id, shownReview.draft));
    if (stored) return { terms: shown(stored.terms), by: caller.userId };
    await updateModal(expiredModal(shownReview?.alert));
    return undefined;
  }

  const modals: ModalDefinition[] = [
    { callbackId: chargeModalId, effect: 'none', submit: review },
    { callbackId: chargeReviewModalId, effect: 'money', submit },
  ];
  return { modals, change, open, read: readShown };
}

/** The terms without the token key: only these are sent to Slack. */
function shown({ tokenKey: _secret, ...terms }: ChargeTerms): ShownTerms {
  return terms;
}

function update(modal: Modal): ViewAnswer {
  return { kind: 'update', modal };
}

export const chargeReviewModalId = 'charge_terms';
/** The field for the reason to charge a card on hold; the approver reads it. */
const whyNowField = 'charge_why_now';

const longestWhyNow = 300;
const longestRule = 300;

const whyNowInput = textInput({
  id: whyNowField,
  label: 'Why now',
  hint: 'The approver reads it.',
  maxLength: longestWhyNow,
});

type ReadReview = { kind: 'read'; override?: string } & ReviewMetadata;

/**
 * Reads the submitted review: the draft's id, the accepted twins and open payments, and why to charge a card on hold
 * now. `stale`: the metadata is not that of a review.
 */
function readReview(values: ViewValues, metadata: string): ReadReview | { kind: 'stale' } | FormErrors {
  const shownReview = reviewMetadata.read(metadata);
  if (!shownReview) return { kind: 'stale' };
  const { [whyNowField]: typed } = values;
  if (typed === undefined) return { kind: 'read', ...shownReview };
  const override = oneLine(typed);
  const missing = 'Say in a few words why the card should be charged now.';
  return override === ''
    ? { kind: 'errors', errors: { [whyNowField]: missing } }
    : { kind: 'read', ...shownReview, override };
}

type ReviewModalOptions = {
  shownAccount: ShownAccount;
  terms: ShownTerms;
  /** The id of these terms, from `keepDraft`. */
  draft: string;
  /** Equal recent charges, which the person must confirm. */
  twins?: readonly Twin[];
  /** Other open payments for the same money: the customer may pay by one as well. */
  open?: readonly OpenPayment[];
  /** The card can't be charged now; with `approval` a second person may allow it. */
  hold?: CardRefusal;
  /** Submitting asks a second person. */
  approval?: ApprovalNeeded;
  nowMs: number;
};

/**
 * The review: the exact terms with all restrictions. The submit button says what it does: charge, or ask for approval.
 */
export function chargeReviewModal(options: ReviewModalOptions): Modal {
  const { shownAccount, terms, draft, twins = [], open = [], hold, approval, nowMs } = options;
  // With a restriction the modal is long enough, so leave other lines out.
  const others = [...twins, ...open];
  const isPlain = !hold && !approval && others.length === 0;
  const amount = amountWord(terms.money);
  const email = emailWord(terms.customerEmail);
  const { Reason: reason, 'Customer id': customerId } = termFields(terms);
  const blocks: ViewBlock[] = [
    ...(isLiveAmongOthers(shownAccount) ? [header(`🔴 Real money: ${word(shownAccount.account)}`)] : []),
    ...twinBlocks(twins, nowMs),
    ...openPaymentBlocks(open, nowMs),
    richText(plain('Charge ', bold(amount), ' to ', bold(cardWords(terms.card)), ' of ', bold(email), '.')),
    ...restrictions(options),
    ...fields({ 'Customer id': customerId, Reason: reason }),
    actions(
      button({ actionId: chargeActions.change, text: 'Change' }),
      ...(hold?.kind === 'under_way' ? [showButton(hold.reference)] : []),
      ...(hold?.kind === 'save_again' ? [linkButton()] : []),
    ),
    context(
      plainText(accountWords(shownAccount.environment, shownAccount.account)),
      plainText(isPlain ? 'Nothing sent yet. Expires in 30 minutes.' : 'Nothing sent yet.'),
    ),
  ];
  return modal({
    callbackId: chargeReviewModalId,
    title: 'Review',
    blocks,
    ...(hold && !approval
      ? {}
      : { submit: approval ? 'Ask for approval' : submitWords(terms, twins.length > 0) }),
    privateMetadata: reviewMetadata.write({
      draft,
      ...withoutUndefined({ alert: terms.alert }),
      ...(others.length > 0 ? { despite: others.map(asAccepted) } : {}),
    }),
  });
}

/** The restrictions, shown between the terms and the button. */
function restrictions({ hold, approval, nowMs }: ReviewModalOptions): ViewBlock[] {
  const mayAsk = approval !== undefined;
  const held = hold && (hold.kind === 'under_way' ? underWay(hold, nowMs) : holdLines(hold, { mayAsk }));
  return [
    ...(held ? [richText(...held)] : []),
    ...(approval && !hold
      ? [richText(labelled('Needs approval', `${outsideText(approval.rule, longestRule)}.`))]
      : []),
    ...(hold && approval ? [whyNowInput] : []),
  ];
}

function underWay(
  { reference, by, at }: Extract<CardRefusal, { kind: 'under_way' }>,
  nowMs: number,
): Run[][] {
  return [
    labelled('Another charge of this card is still open', person(by), `, ${timeAgo(at, nowMs)}.`),
    [referenceRun(reference)],
    plain('Wait for its result.'),
  ];
}

/** A live account in a bot that also has sandbox accounts: agents may be used to charges that move no money. */
function isLiveAmongOthers({ environment, isMixed }: ShownAccount): boolean {
  return environment === 'live' && isMixed === true;
}

/** "Charge NGN 12,500.00"; without the amount if that doesn't fit in a button as a whole, with its currency. */
function submitWords({ money }: ShownTerms, isAgain: boolean): string {
  const amount = amountWord(money);
  const whole = isAgain ? [`Charge again ${amount}`, `Again: ${amount}`] : [`Charge ${amount}`];
  const fits = whole.find((text) => text.length <= limits.viewButton);
  return fits ?? (isAgain ? 'Charge again' : 'Charge');
}

/** The review's metadata: the draft's id, its alert, and the shown twins and open payments. Contains no secret. */
const reviewMetadata = codec(
  z.object({
    draft: z.string().min(1),
    alert: z.string().exactOptional(),
    despite: z.array(z.string()).exactOptional(),
  }),
);

type ReviewMetadata = NonNullable<ReturnType<typeof reviewMetadata.read>>;
