import { shownTerms, type CardEmailBeginning } from '../../operations/card/change-card-email.ts';
import { changingModal, endMessage, endModal, staleChangeModal } from '../../slack/card-email/end-modal.ts';
import { notLinkedProblem } from '../../slack/card-email/end-words.ts';
import { cardEmailModal, readCardEmailModal } from '../../slack/card-email/form-modal.ts';
import { readBackModal, readDraftMetadata } from '../../slack/card-email/read-back-modal.ts';
import type { Submission, ViewAnswer } from '../../slack/command.ts';
import type { Modal } from '../../slack/message.ts';
import { awaitDecision } from '../charge/await-decision.ts';
import { formParts, type CardEmailDeps } from './card-email-deps.ts';
import { correctedForm } from './prefill.ts';
import { readCardEmailTerms } from './read-card-email-terms.ts';

/** Nothing is sent from here: the change is kept and read back. */
export async function readBack(deps: CardEmailDeps, { viewId, values }: Submission): Promise<ViewAnswer> {
  const form = readCardEmailModal(values);
  if (form.kind === 'errors') return form;
  const read = await readCardEmailTerms(form.form, deps.ledger);
  if (read.kind === 'errors') return read;
  const draft = await deps.cardEmails.keepDraft(viewId, read.terms);
  return { kind: 'update', modal: readBackModal(shownTerms(read.terms), draft, deps) };
}

/**
 * Acknowledged with *Changing …* however fast the service is: what it says of the current e-mail could not go
 * to its field by acknowledgement, because the submitted modal is the read-back, which has no fields.
 */
export async function makeChange(deps: CardEmailDeps, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, privateMetadata } = submission;
  const draft = readDraftMetadata(privateMetadata);
  if (draft === undefined) return { kind: 'update', modal: staleChangeModal(deps) };
  const beginning = await deps.cardEmails.begin({ viewId, draft, by: caller.userId });
  switch (beginning.kind) {
    case 'begun':
      return {
        kind: 'update',
        modal: changingModal(beginning.terms, deps),
        carryOn: () => carryOn(deps, beginning, { viewId, userId: caller.userId, draft }),
      };
    case 'known':
      return { kind: 'update', modal: changingModal(beginning.terms, deps) };
    case 'awaiting_approval':
      return await awaitDecision(deps, beginning.approval, submission);
    case 'stale':
      return { kind: 'update', modal: staleChangeModal(deps) };
  }
}

type Dialogue = { viewId: string; userId: string; draft: string };

async function carryOn(
  deps: CardEmailDeps,
  { terms, carryOn: ask }: Extract<CardEmailBeginning, { kind: 'begun' }>,
  { draft, ...to }: Dialogue,
): Promise<void> {
  const end = await ask();
  const form = end.kind === 'not_linked' ? await formAgain(deps, to.viewId, draft) : undefined;
  await deps.showEnd(to, {
    modal: form ?? endModal(end, { terms, draft }, deps),
    message: endMessage(end, terms, { place: deps, nowMs: deps.now() }),
  });
}

/** The form with the problem at its field. Undefined while the store is away: what became of it is told all the same. */
async function formAgain(deps: CardEmailDeps, viewId: string, draft: string): Promise<Modal | undefined> {
  try {
    const terms = await deps.cardEmails.readDraft(viewId, draft);
    if (!terms) return undefined;
    const filled = await correctedForm(terms, deps.ledger);
    return cardEmailModal({ ...formParts(deps), ...filled, currentProblem: notLinkedProblem });
  } catch {
    return undefined;
  }
}
