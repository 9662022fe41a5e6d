import type { AlertTaken } from '../../domain/alert-card.ts';
import type { ChargeTerms, ShownTerms } from '../../domain/charge-terms.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { SubmitResult } from '../../domain/submit-result.ts';
import type { ChargeReview } from './submit-charge.ts';
import { chargeFields, chargeModal, chargeModalId, readChargeModal } from './charge-modal.ts';
import { limitErrors, limitRefusalModal } from './limit-words.ts';
import {
  overrideField,
  overrideModalId,
  readOverrideModal,
  readTermsMetadata,
  staleTermsModal,
  termsModal,
  termsModalId,
} from './terms-modal.ts';
import { unsureChargeModal } from './unsure-modal.ts';
import type { ModalDefinition, Submission, ViewAnswer } from '../../slack/command.ts';
import { wordsModal } from '../../slack/kit/modals.ts';
import type { Modal } from '../../slack/kit/message.ts';
import { showAndCarryOn, type ChargeScreens } from './charge-views.ts';
import { wholeForm } from './prefill.ts';
import { readTerms } from './read-terms.ts';

/**
 * The form and the review: one dialogue, by its view id. What throws while the form is read has sent nothing.
 * A throw of the review is told as one of money, because `carryOn` may throw with the charge on its way.
 */
export function chargeModals(deps: ChargeScreens): ModalDefinition[] {
  return [
    { callbackId: chargeModalId, effect: 'none', submit: (submission) => review(deps, submission) },
    { callbackId: termsModalId, effect: 'money', submit: (submission) => submitTerms(deps, submission) },
    // The hold may be over by now, and then it charges.
    { callbackId: overrideModalId, effect: 'money', submit: (submission) => askOverride(deps, submission) },
  ];
}

/** Nothing is sent from here: the terms are kept and shown for review. */
async function review(deps: ChargeScreens, submission: Submission): Promise<ViewAnswer> {
  const { viewId, values, caller } = submission;
  const alert = submission.privateMetadata || undefined;
  const taken = alert === undefined ? undefined : await deps.desk.alertTaken(alert, viewId);
  if (taken) return update(alertTakenModal(deps, taken, caller.userId));
  const form = readChargeModal(values, deps.currencies);
  if (form.kind === 'errors') return form;
  const read = await readTerms(form.form, deps.ledger);
  if (read.kind === 'errors') return await askedAgain(deps, submission, read.errors);
  const terms: ChargeTerms = { ...read.terms, ...withoutUndefined({ alert }) };
  const reviewed = await deps.desk.review({ viewId, terms, by: caller.userId });
  if (reviewed.kind === 'over_limit') return { kind: 'errors', errors: limitErrors(reviewed.refusal) };
  const draft = await deps.desk.keepDraft(viewId, terms);
  return update(reviewModal(deps, { terms, draft, reviewed }));
}

/** The e-mail has no field in the short form to tell its problem at: then the whole form does. */
async function askedAgain(
  deps: ChargeScreens,
  { values, privateMetadata }: Submission,
  errors: Readonly<Record<string, string>>,
): Promise<ViewAnswer> {
  const { [chargeFields.email]: problem } = errors;
  if (problem === undefined || values[chargeFields.email] !== undefined) return { kind: 'errors', errors };
  return update(chargeModal({ ...(await wholeForm(deps, values, privateMetadata)), problem }));
}

type Reviewed = { terms: ChargeTerms; draft: string; reviewed: Extract<ChargeReview, { kind: 'ready' }> };

function reviewModal(deps: ChargeScreens, { terms, draft, reviewed }: Reviewed): Modal {
  const { kind: _ready, ...restrictions } = reviewed;
  return termsModal({ place: deps, terms: shown(terms), draft, ...restrictions, nowMs: deps.now() });
}

/**
 * Charges on the reviewed terms. A second submit of the same dialogue finds the first one's charge.
 * A store that is away is the desk's `unsure`: an earlier submit of the dialogue may have charged.
 */
async function submitTerms(deps: ChargeScreens, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, privateMetadata } = submission;
  const agreed = readTermsMetadata(privateMetadata);
  if (!agreed) return update(staleTermsModal(deps));
  const result = await deps.desk.submit({ viewId, by: caller.userId, ...agreed });
  return await shownResult(deps, submission, { agreed, result });
}

/**
 * The same terms with why they cannot wait, for whoever decides whether a card on hold is charged. Submitted twice it
 * is one request.
 */
async function askOverride(deps: ChargeScreens, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, privateMetadata, values } = submission;
  const why = readOverrideModal(values);
  if (!why.ok) return { kind: 'errors', errors: { [overrideField]: why.problem } };
  const agreed = readTermsMetadata(privateMetadata);
  if (!agreed) return update(staleTermsModal(deps));
  const terms = await deps.desk.readDraft(viewId, agreed.draft);
  // Gone, or with its reason already: then the desk knows the dialogue's request, or calls the terms stale.
  const withReason = terms ? await withWhy(deps, { viewId, agreed, terms }, why.value) : agreed;
  const result = await deps.desk.submit({ viewId, by: caller.userId, ...withReason, override: true });
  return await shownResult(deps, submission, { agreed: withReason, result });
}

async function withWhy(
  { desk }: ChargeScreens,
  { viewId, agreed, terms }: { viewId: string; agreed: Submitted['agreed']; terms: ChargeTerms },
  why: string,
): Promise<Submitted['agreed']> {
  const reason = [why, terms.reason].filter((part) => part !== undefined).join(' · ');
  return { ...agreed, draft: await desk.keepDraft(viewId, { ...terms, reason }) };
}

type Submitted = { agreed: { draft: string; despite?: string }; result: SubmitResult };

async function shownResult(
  deps: ChargeScreens,
  submission: Submission,
  { agreed, result }: Submitted,
): Promise<ViewAnswer> {
  switch (result.kind) {
    case 'begun':
      return showAndCarryOn(deps, result.charge, submission, result.carryOn);
    case 'known':
      return showAndCarryOn(deps, result.charge, submission);
    case 'refused':
    case 'twin':
      return update(await reviewAgain(deps, submission, agreed.draft));
    case 'over_limit':
      return update(limitRefusalModal(result.refusal, deps));
    case 'awaiting_approval':
      return await deps.awaitDecision(result.approval, submission);
    case 'alert_taken':
      return update(alertTakenModal(deps, result.taken, submission.caller.userId));
    case 'stale':
      return update(staleTermsModal(deps));
    case 'unsure':
      return update(unsureChargeModal(result.reference, deps));
  }
}

/** The same terms with what has come between: a hold, or a twin. Agreeing now is agreeing beside that very twin. */
async function reviewAgain(
  deps: ChargeScreens,
  { viewId, caller }: Submission,
  draft: string,
): Promise<Modal> {
  const terms = await deps.desk.readDraft(viewId, draft);
  if (!terms) return staleTermsModal(deps);
  const reviewed = await deps.desk.review({ viewId, terms, by: caller.userId });
  return reviewed.kind === 'over_limit'
    ? limitRefusalModal(reviewed.refusal, deps)
    : reviewModal(deps, { terms, draft, reviewed });
}

/** As the press says it that comes too late. */
function alertTakenModal({ takenMessage }: ChargeScreens, taken: AlertTaken, userId: string): Modal {
  return wordsModal('Not charged', takenMessage(taken, userId));
}

/** Without the token key: what goes to Slack is made of this alone. */
function shown({ tokenKey: _secret, ...terms }: ChargeTerms): ShownTerms {
  return terms;
}

function update(modal: Modal): ViewAnswer {
  return { kind: 'update', modal };
}
