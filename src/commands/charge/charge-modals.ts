import type { EndedCard } from '../../domain/alert-card.ts';
import type { ChargeTerms, ShownTerms } from '../../domain/charge-terms.ts';
import type { Twin } from '../../domain/card-refusal.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { refusedMessage } from '../../slack/alert/card-answers.ts';
import { awaitingApprovalModal } from '../../slack/approval/awaiting-modal.ts';
import { chargeModalId, readChargeModal } from '../../slack/charge/charge-modal.ts';
import { cardRefusalModal, staleTermsModal } from '../../slack/charge/refusal-modal.ts';
import { readTermsMetadata, termsModal, termsModalId } from '../../slack/charge/terms-modal.ts';
import { unsureChargeModal } from '../../slack/charge/unsure-modal.ts';
import type { ModalDefinition, Submission, ViewAnswer } from '../../slack/command.ts';
import { wordsModal } from '../../slack/modals.ts';
import type { Modal } from '../../slack/message.ts';
import type { ChargeDeps } from './charge-deps.ts';
import { showAndCarryOn } from './charge-views.ts';
import { readTerms } from './read-terms.ts';

/**
 * The form and the read-back: one dialogue, by its view id. What throws while the form is read has sent nothing.
 * A throw of the read-back is told as one of money, because `carryOn` may throw with the charge on its way.
 */
export function chargeModals(deps: ChargeDeps): ModalDefinition[] {
  return [
    { callbackId: chargeModalId, effect: 'none', submit: (submission) => readBack(deps, submission) },
    { callbackId: termsModalId, effect: 'money', submit: (submission) => submitTerms(deps, submission) },
  ];
}

/** Nothing is sent from here: the terms are kept and read back. */
async function readBack(deps: ChargeDeps, submission: Submission): Promise<ViewAnswer> {
  const { viewId, values, caller } = submission;
  const alert = submission.privateMetadata || undefined;
  const ended = alert === undefined ? undefined : await deps.desk.endedAlert(alert);
  if (ended) return update(alertEndedModal(ended, caller.userId));
  const form = readChargeModal(values);
  if (form.kind === 'errors') return form;
  const read = await readTerms(form.form, deps.ledger);
  if (read.kind === 'errors') return read;
  const terms: ChargeTerms = { ...read.terms, ...withoutUndefined({ alert }) };
  const draft = await deps.desk.keepDraft(viewId, terms);
  return update(termsModal({ place: deps, terms: shown(terms), draft, nowMs: deps.now() }));
}

/**
 * Charges on the terms that were read back. A second submit of the same dialogue finds the first one's charge.
 * A store that is away is the desk's `unsure`: an earlier submit of the dialogue may have charged.
 */
async function submitTerms(deps: ChargeDeps, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, privateMetadata } = submission;
  const agreed = readTermsMetadata(privateMetadata);
  if (!agreed) return update(staleTermsModal(deps));
  const result = await deps.desk.submit({ viewId, by: caller.userId, ...agreed });
  switch (result.kind) {
    case 'begun':
      return showAndCarryOn(deps, result.charge, submission, result.carryOn);
    case 'known':
      return showAndCarryOn(deps, result.charge, submission);
    case 'refused':
      return update(cardRefusalModal(result.refusal, deps, { nowMs: deps.now() }));
    case 'twin':
      return update(await askAboutTwin(deps, submission, { draft: agreed.draft, twin: result.twin }));
    case 'awaiting_approval':
      return update(awaitingApprovalModal(result.approval));
    case 'alert_ended':
      return update(alertEndedModal(result.card, caller.userId));
    case 'stale':
      return update(staleTermsModal(deps));
    case 'unsure':
      return update(unsureChargeModal(result.reference, deps));
  }
}

/** The same terms again, with what speaks against them; agreeing now is agreeing beside that very twin. */
async function askAboutTwin(
  deps: ChargeDeps,
  { viewId }: Submission,
  { draft, twin }: { draft: string; twin: Twin },
): Promise<Modal> {
  const terms = await deps.desk.readDraft(viewId, draft);
  if (!terms) return staleTermsModal(deps);
  return termsModal({ place: deps, terms: shown(terms), draft, twin, nowMs: deps.now() });
}

/** As the press says it that comes too late. */
function alertEndedModal(card: EndedCard, userId: string): Modal {
  return wordsModal('Not charged', refusedMessage('ended', card, userId));
}

/** Without the token key: what goes to Slack is made of this alone. */
function shown({ tokenKey: _secret, ...terms }: ChargeTerms): ShownTerms {
  return terms;
}

function update(modal: Modal): ViewAnswer {
  return { kind: 'update', modal };
}
