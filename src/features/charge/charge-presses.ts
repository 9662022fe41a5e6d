import { chargeActions } from './charge-actions.ts';
import { chargeModal } from './charge-modal.ts';
import { savingLinkMessage, savingLinkModal, type SavingLink } from './saving-link.ts';
import { readTermsMetadata, staleTermsModal } from './terms-modal.ts';
import { itself, type Press, type Pressed } from '../../slack/command.ts';
import { formParts, openNamed, sayUnknown, showCharge, type ChargeScreens } from './charge-views.ts';
import { anotherCharge, changedTerms, wholeForm } from './prefill.ts';

/** Whom `/pay doubt` shows a charge may also see it, and have it looked up. */
const lookers = ['charge', 'otp', 'doubt'];

/** None of these makes a charge: a throw of the store from here means that nothing new was sent. */
export function chargePresses(deps: ChargeScreens): Press[] {
  return [
    { actionId: chargeActions.change, press: (pressed) => changeTerms(deps, pressed) },
    {
      actionId: chargeActions.more,
      press: async ({ view, updateModal }) => {
        if (view) await updateModal(chargeModal(await wholeForm(deps, view.values, view.privateMetadata)));
      },
    },
    {
      actionId: chargeActions.another,
      about: itself,
      opensForm: true,
      press: (pressed) => chargeAnother(deps, pressed),
    },
    { actionId: chargeActions.savingLink, about: itself, press: (pressed) => makeLink(deps, pressed) },
    {
      actionId: chargeActions.show,
      about: itself,
      opensForm: true,
      press: (pressed) => openNamed(deps, pressed),
      permissions: lookers,
    },
    // A look-up can find that the charge never arrived, and then it is sent again under its reference.
    {
      actionId: chargeActions.checkNow,
      about: itself,
      press: (pressed) => checkNow(deps, pressed),
      permissions: lookers,
      effect: 'money',
    },
  ];
}

/** Back to the form, in the same dialogue: should that have charged already, it will show that charge. */
async function changeTerms(deps: ChargeScreens, { view, updateModal }: Pressed): Promise<void> {
  if (!view) return;
  const agreed = readTermsMetadata(view.privateMetadata);
  const terms = agreed && (await deps.desk.readDraft(view.id, agreed.draft));
  if (!terms) return await updateModal(staleTermsModal(deps));
  await updateModal(chargeModal({ ...formParts(deps), ...(await changedTerms(terms, deps.ledger)) }));
}

/** Always a modal of its own: in the old one the next charge would be the same charge. */
async function chargeAnother(deps: ChargeScreens, pressed: Pressed): Promise<void> {
  const charge = await deps.desk.find(pressed.value);
  if (!charge) return await sayUnknown(deps, pressed);
  await pressed.openModal(chargeModal({ ...formParts(deps), ...(await anotherCharge(charge, deps.ledger)) }));
}

/** The service may take longer than a trigger lives, so the answer goes where the button stands. */
async function makeLink(deps: ChargeScreens, pressed: Pressed): Promise<void> {
  const { caller, value, view, updateModal, reply } = pressed;
  function say(what: SavingLink): Promise<void> {
    return view ? updateModal(savingLinkModal(what, deps)) : reply(savingLinkMessage(what, deps));
  }
  if (view) await say({ kind: 'asking' });
  const result = await deps.desk
    .makeSavingLink({ reference: value, by: caller.userId })
    .catch(async (error: unknown) => {
      // What went wrong is told on top of this; the modal below must not ask for ever.
      if (view)
        await say({ kind: 'not_made', why: 'The bot could not finish asking. Press the button again.' });
      throw error;
    });
  switch (result.kind) {
    case 'created':
      return await say({ kind: 'made', charge: result.charge, link: result.link });
    case 'not_created':
      return await say({ kind: 'not_made', why: result.why });
    case 'unknown_charge':
      return await sayUnknown(deps, pressed);
  }
}

async function checkNow(deps: ChargeScreens, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const charge = await deps.desk.lookUpNow({ reference: value, by: caller.userId });
  await (charge ? showCharge(deps, pressed, charge) : sayUnknown(deps, pressed));
}
