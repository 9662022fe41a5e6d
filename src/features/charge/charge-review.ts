import { z } from 'zod';
import type { Account } from '../../account.ts';
import type { AlertTaken } from '../../domain/alert.ts';
import type { Approval, ApprovalNeeded } from '../../domain/approval.ts';
import type { KnownCards } from '../../domain/card.ts';
import type { ChargeTerms, ShownTerms, Twin } from '../../domain/charge.ts';
import type { CardRefusal } from './card-history.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type {
  Conversation,
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
import type { Modal, ModalBlock, SlackMessage } from '../../slack/kit/message.ts';
import { loadingModal, wordsModal } from '../../slack/kit/modals.ts';
import { oneLine, outsideText } from '../../slack/kit/text.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { amountWord, emailWord, labelled, plain, termFields } from '../../slack/words/charge-facts.ts';
import { type ChargePlace } from '../../slack/words/charge-place.ts';
import { placeWords, referenceRun, word } from '../../slack/words/evidence.ts';
import { holdLines } from '../../slack/words/next-steps.ts';
import { timeAgo, twinBlocks } from '../../slack/words/twins.ts';
import type { ChargeDesk } from './charge-desk.ts';
import { type ChargeForm, chargeFields, chargeModalId } from './charge-form.ts';
import { chargeActions, showButton, unsureChargeModal } from './charge-screens.ts';
import type { ChargeViews } from './charge-views.ts';
import { limitProblem, limitRefusalModal, notChargedModal } from './limit-words.ts';

/** What other features hand over to review a charge. */
export type ForReviews = {
  /** Undefined when remembering cards is switched off: then every token key is pasted. */
  ledger: KnownCards | undefined;
  /** What the window says of a charge that a second person decides. */
  requestModal: (approval: Approval) => Modal;
  /** Why no charge is begun from an alert now. */
  takenMessage: (taken: AlertTaken, askedBy: string) => SlackMessage;
};

/**
 * The form and the review: one dialogue, by its view id. What throws while the form is read has sent nothing.
 * A throw of the review is told as one of money, because `carryOn` may throw with the charge on its way.
 */
export function createReview(
  { place, now, slack }: Pick<Account, 'place' | 'now' | 'slack'>,
  own: {
    desk: ChargeDesk;
    form: ChargeForm;
    views: ChargeViews;
    around: ForReviews;
  },
) {
  const { desk, form, views, around } = own;

  /** As the press says it that comes too late. */
  const alertTakenModal = (taken: AlertTaken, userId: string): Modal =>
    wordsModal('Not charged', around.takenMessage(taken, userId));

  /** Nothing is sent from here: the terms are kept and shown for review. */
  async function review(submission: Submission): Promise<ViewAnswer> {
    const { viewId, values, caller } = submission;
    const alert = submission.privateMetadata || undefined;
    const taken = alert === undefined ? undefined : await desk.alertTaken(alert, viewId);
    if (taken) return update(alertTakenModal(taken, caller.userId));
    const read = await form.read(values);
    if (read.kind === 'errors') return read;
    const terms: ChargeTerms = { ...read.terms, ...withoutUndefined({ alert }) };
    const reviewed = await desk.review({ viewId, terms, by: caller.userId });
    if (reviewed.kind === 'over_limit') {
      return { kind: 'errors', errors: { [chargeFields.amount]: limitProblem(reviewed.refusal) } };
    }
    const draft = await desk.keepDraft(viewId, terms);
    return update(termsModal({ ...reviewed, place, terms: shown(terms), draft, nowMs: now() }));
  }

  /** The review at once, where the form has nothing to ask: a dialogue of its own. */
  async function open(terms: ChargeTerms, { caller, openModal }: Conversation): Promise<void> {
    const viewId = await openModal(loadingModal());
    const reviewed = await desk.review({ viewId, terms, by: caller.userId });
    const modal =
      reviewed.kind === 'over_limit'
        ? limitRefusalModal(reviewed.refusal, place)
        : termsModal({
            ...reviewed,
            place,
            terms: shown(terms),
            draft: await desk.keepDraft(viewId, terms),
            nowMs: now(),
          });
    await slack.showEnd({ viewId, userId: caller.userId }, { modal });
  }

  /**
   * Charges on the reviewed terms, or asks whoever decides it. A second submit of the same dialogue finds the first one's
   * charge or request. A store that is away is the desk's `unsure`: an earlier submit of the dialogue may have charged.
   */
  async function submit(submission: Submission): Promise<ViewAnswer> {
    const { caller, viewId, privateMetadata, values } = submission;
    const read = readTermsModal(values, privateMetadata);
    if (read.kind === 'errors') return read;
    if (read.kind === 'stale') return update(staleTermsModal(place));
    const { kind: _agreed, ...agreed } = read;
    const result = await desk.submit({ viewId, by: caller.userId, ...agreed });
    switch (result.kind) {
      case 'begun':
        return views.showAndCarryOn(result.charge, submission, result.carryOn);
      case 'known':
        return views.showAndCarryOn(result.charge, submission);
      case 'refused':
      case 'twin':
        return update(await reviewAgain(submission, agreed.draft));
      case 'over_limit':
        return update(limitRefusalModal(result.refusal, place));
      case 'awaiting_approval':
        return update(around.requestModal(result.approval));
      case 'alert_taken':
        return update(alertTakenModal(result.taken, caller.userId));
      case 'stale':
        return update(staleTermsModal(place));
      case 'unsure':
        return update(unsureChargeModal(result.reference, place));
    }
  }

  /** The same terms with what has come between: a hold, or twins. Agreeing now is agreeing beside those very twins. */
  async function reviewAgain({ viewId, caller }: Submission, draft: string): Promise<Modal> {
    const kept = await desk.readDraft(viewId, draft);
    if (!kept) return staleTermsModal(place);
    const { terms } = kept;
    const reviewed = await desk.review({ viewId, terms, by: caller.userId });
    return reviewed.kind === 'over_limit'
      ? limitRefusalModal(reviewed.refusal, place)
      : termsModal({ ...reviewed, place, terms: shown(terms), draft, nowMs: now() });
  }

  /** Back to the form, in the same dialogue: should that have charged already, it will show that charge. */
  async function change({ view, updateModal }: Pressed): Promise<void> {
    if (!view) return;
    const agreed = agreedTerms.read(view.privateMetadata);
    const kept = agreed && (await desk.readDraft(view.id, agreed.draft));
    if (!kept) return await updateModal(staleTermsModal(place));
    const { terms } = kept;
    const card = await around.ledger?.idOf(terms.tokenKey);
    await updateModal(await form.again(terms, card ?? ''));
  }

  const modals: ModalDefinition[] = [
    { callbackId: chargeModalId, effect: 'none', submit: review },
    { callbackId: termsModalId, effect: 'money', submit },
  ];
  return { modals, change, open };
}

/** Without the token key: what goes to Slack is made of this alone. */
function shown({ tokenKey: _secret, ...terms }: ChargeTerms): ShownTerms {
  return terms;
}

function update(modal: Modal): ViewAnswer {
  return { kind: 'update', modal };
}

export const termsModalId = 'charge_terms';
/** In the review of a card on hold: submitting it asks a second person, who reads this. */
const whyNowField = 'charge_why_now';

const longestWhyNow = 300;
const longestRule = 300;

const whyNowInput = textInput({
  id: whyNowField,
  label: 'Why now',
  hint: 'The approver reads it.',
  maxLength: longestWhyNow,
});

type Agreed = { kind: 'agreed'; draft: string; despite?: readonly string[]; override?: string };

/** What a submitted review agrees to, and why a card on hold is to be charged now; `stale`: not what the bot made. */
function readTermsModal(
  values: ViewValues,
  metadata: string,
): Agreed | { kind: 'stale' } | { kind: 'errors'; errors: Record<string, string> } {
  const agreed = agreedTerms.read(metadata);
  if (!agreed) return { kind: 'stale' };
  const { [whyNowField]: typed } = values;
  if (typed === undefined) return { kind: 'agreed', ...agreed };
  const override = oneLine(typed);
  const missing = 'Say in a few words why the card should be charged now.';
  return override === ''
    ? { kind: 'errors', errors: { [whyNowField]: missing } }
    : { kind: 'agreed', ...agreed, override };
}

type TermsModalOptions = {
  place: ChargePlace;
  terms: ShownTerms;
  /** Stands for exactly these terms. */
  draft: string;
  /** Charged shortly before: the person is asked whether they mean it. */
  twins?: readonly Twin[];
  /** The card can't be charged now; with `approval` a second person may decide that it is. */
  hold?: CardRefusal;
  /** Submitting asks a second person. */
  approval?: ApprovalNeeded;
  nowMs: number;
};

/** The exact terms with every restriction on them; its submit button says what it does: charge, or ask. */
export function termsModal(options: TermsModalOptions): Modal {
  const { place, terms, draft, twins = [], hold, approval, nowMs } = options;
  // With a restriction on it there is enough to read.
  const isPlain = !hold && !approval && twins.length === 0;
  const amount = amountWord(terms.money);
  const email = emailWord(terms.customerEmail);
  const { Reason: reason, 'Customer id': customerId } = termFields(terms);
  const blocks: ModalBlock[] = [
    ...(isLiveAmongOthers(place) ? [header(`🔴 Real money: ${word(place.account)}`)] : []),
    ...twinBlocks(twins, nowMs),
    richText(plain('Charge ', bold(amount), ' to ', bold(cardWords(terms.card)), ' of ', bold(email), '.')),
    ...restrictions(options),
    ...fields({ 'Customer id': customerId, Reason: reason }),
    actions(
      button({ actionId: chargeActions.change, text: 'Change' }),
      ...(hold?.kind === 'under_way' ? [showButton(hold.reference)] : []),
    ),
    context(
      plainText(placeWords(place.environment, place.account)),
      plainText(isPlain ? 'Nothing sent yet. Expires in 30 minutes.' : 'Nothing sent yet.'),
    ),
  ];
  return modal({
    callbackId: termsModalId,
    title: 'Review',
    blocks,
    ...(hold && !approval
      ? {}
      : { submit: approval ? 'Ask for approval' : submitWords(terms, twins.length > 0) }),
    privateMetadata: agreedTerms.write({
      draft,
      ...(twins.length > 0 ? { despite: twins.map(({ reference }) => reference) } : {}),
    }),
  });
}

/** What stands between the terms and the charge. */
function restrictions({ hold, approval, nowMs }: TermsModalOptions): ModalBlock[] {
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

/** What was reviewed is gone or different by now. */
function staleTermsModal(place: ChargePlace): Modal {
  const next = labelled('Next', 'start over with ', code('/pay charge'), '.');
  const note = { state: '⌛ This review has expired', body: [plain('Nothing was charged.'), next] };
  return notChargedModal(note, place);
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

/** In a bot with sandbox accounts too, an agent’s hands may be used to charges that cost nobody anything. */
function isLiveAmongOthers({ environment, isMixed }: ChargePlace): boolean {
  return environment === 'live' && isMixed === true;
}

/** "Charge NGN 12,500.00", or what of it a button of a modal holds; never an amount without its currency, or a cut one. */
function submitWords({ money }: ShownTerms, isAgain: boolean): string {
  const amount = amountWord(money);
  const whole = isAgain ? [`Charge again ${amount}`, `Again: ${amount}`] : [`Charge ${amount}`];
  const fits = whole.find((text) => text.length <= limits.viewButton);
  return fits ?? (isAgain ? 'Charge again' : 'Charge');
}

/** Which terms a modal is about, and the twins that were shown beside them: no secret. */
const agreedTerms = codec(
  z.object({ draft: z.string().min(1), despite: z.array(z.string()).exactOptional() }),
);
