import { staleChangeModal } from '../../slack/card-email/end-modal.ts';
import { cardEmailModal } from '../../slack/card-email/form-modal.ts';
import { readDraftMetadata } from '../../slack/card-email/read-back-modal.ts';
import type { Pressed } from '../../slack/command.ts';
import { sayUnknown } from '../charge/charge-views.ts';
import { formParts, type CardEmailDeps } from './card-email-deps.ts';
import { correctedForm, formForCharge, otherCardForm } from './prefill.ts';

/** Back to the form, in the same dialogue; the button's value is what became of the change, if it was made. */
export async function correctAgain(deps: CardEmailDeps, pressed: Pressed): Promise<void> {
  const { view, value, updateModal } = pressed;
  if (!view) return;
  const draft = readDraftMetadata(view.privateMetadata);
  const terms = draft === undefined ? undefined : await deps.cardEmails.readDraft(view.id, draft);
  if (!terms) return await updateModal(staleChangeModal(deps));
  const filled = value === 'no_such_card' ? otherCardForm(terms) : await correctedForm(terms, deps.ledger);
  await updateModal(cardEmailModal({ ...formParts(deps), ...filled }));
}

/** From a charge that was rejected for its e-mail; on top of its modal, so that it can be tried again from there. */
export async function openForCharge(deps: CardEmailDeps, pressed: Pressed): Promise<void> {
  const charge = await deps.desk.find(pressed.value);
  if (!charge) return await sayUnknown(deps, pressed);
  await pressed.openModal(
    cardEmailModal({ ...formParts(deps), ...(await formForCharge(charge, deps.ledger)) }),
  );
}
