import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import type { Caller, OpenModal, Pressed, ViewAnswer } from '../../slack/command.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { ChargeOperations } from './charge-operations.ts';
import type { ChargeView } from './charge-record.ts';
import { chargeMessage } from './charge-messages.ts';
import { chargeStateModal, unknownCharge, unknownChargeModal } from './charge-modal.ts';

export type ChargeViews = ReturnType<typeof createChargeViews>;

/** Opens and updates the modals of charges, for all verbs. */
export function createChargeViews({ place, now }: Account, operations: ChargeOperations) {
  /** The charge's modal for this person: only the agent gets the field for the code. */
  const modalFor = (charge: ChargeSeen, viewerId: string) =>
    chargeStateModal(charge, place, { nowMs: now(), viewerId });

  /** Opens the charge in a modal, which later steps update. */
  async function open(
    charge: ChargeSeen,
    { caller: { userId }, openModal }: { caller: Caller; openModal: OpenModal },
  ): Promise<void> {
    const id = await openModal(modalFor(charge, userId));
    await operations.watch(charge.reference, { id, userId, at: charge.at });
  }

  /** Says that there is no such charge: in the modal if its button was in one, else to the caller alone. */
  async function sayUnknown({ value, view, reply, updateModal }: Pressed): Promise<void> {
    await (view
      ? updateModal(unknownChargeModal(value, place))
      : reply(noteMessage(unknownCharge(value, place))));
  }

  /**
   * Registers the modal and runs `carryOn`. If the store fails at registering, don't show an error: the usual one says
   * that nothing was sent, but the charge is stored and continues. The modal then isn't updated, and the agent gets a
   * direct message.
   */
  async function watchAndCarryOn(
    reference: string,
    view: ChargeView & { at: number },
    carryOn: (() => Promise<void>) | undefined,
  ): Promise<void> {
    const [watched] = await Promise.allSettled([operations.watch(reference, view)]);
    await carryOn?.();
    if (watched.status === 'rejected' && !(watched.reason instanceof StoreUnavailable)) throw watched.reason;
  }

  /** Opens the charge that the button names, or says that there is none. */
  async function openNamed(pressed: Pressed): Promise<void> {
    const charge = await operations.find(pressed.value);
    await (charge ? open(charge, pressed) : sayUnknown(pressed));
  }

  return {
    open,
    openNamed,
    sayUnknown,

    /**
     * Shows the charge where its button was pressed: in the modal, which later steps update, or as one line for the
     * caller alone. Without a charge says that there is none.
     */
    async show(pressed: Pressed, charge: ChargeSeen | undefined): Promise<void> {
      const { caller, view } = pressed;
      if (!charge) return await sayUnknown(pressed);
      if (!view) {
        const { text, blocks } = chargeMessage(charge, place, { key: '', mayBeRepeat: false });
        return await pressed.reply({ text, blocks: blocks.slice(0, 1) });
      }
      // Only `operations.watch` updates this modal: an update from here could arrive after a newer one.
      await operations.watch(charge.reference, { id: view.id, userId: caller.userId, at: -Infinity });
    },

    /**
     * Shows the charge in the submitted modal, then runs `carryOn`. The modal is registered after Slack has this
     * answer, which could otherwise overwrite a fast outcome, and before anything is sent, so that no outcome is
     * missed.
     */
    showAndCarryOn(
      charge: ChargeSeen,
      { viewId, caller: { userId } }: { viewId: string; caller: Caller },
      carryOn?: () => Promise<void>,
    ): ViewAnswer {
      const view = { id: viewId, userId, at: charge.at };
      return {
        kind: 'update',
        modal: modalFor(charge, userId),
        carryOn: () => watchAndCarryOn(charge.reference, view, carryOn),
      };
    },
  };
}
