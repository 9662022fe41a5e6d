import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import type { Caller, OpenModal, Pressed, ViewAnswer } from '../../slack/command.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { ChargeDesk } from './charge-desk.ts';
import type { ChargeView } from './charge-record.ts';
import { chargeMessage } from './charge-messages.ts';
import { chargeStateModal, unknownCharge, unknownChargeModal } from './charge-screens.ts';

export type ChargeViews = ReturnType<typeof createChargeViews>;

/** How a charge gets in front of a person: shared by the verbs that show one. */
export function createChargeViews({ place, now }: Account, desk: ChargeDesk) {
  /** The charge as this person sees it: only whose it is gets the field for the code. */
  const modalFor = (charge: ChargeSeen, viewerId: string) =>
    chargeStateModal(charge, place, { nowMs: now(), viewerId });

  /** Opens the charge in front of the person; the modal shows what becomes of it. */
  async function open(
    charge: ChargeSeen,
    { caller: { userId }, openModal }: { caller: Caller; openModal: OpenModal },
  ): Promise<void> {
    const id = await openModal(modalFor(charge, userId));
    await desk.watch(charge.reference, { id, userId, at: charge.at });
  }

  /** A modal's button is answered in the modal, any other to the caller alone. */
  async function sayUnknown({ value, view, reply, updateModal }: Pressed): Promise<void> {
    await (view
      ? updateModal(unknownChargeModal(value, place))
      : reply(noteMessage(unknownCharge(value, place))));
  }

  /**
   * What is stored goes on, watched or not: without the store the modal stays as it is and the agent is told by
   * direct message. That is no error to report, least of all in the store's words, which say that nothing was sent.
   */
  async function watchAndCarryOn(
    reference: string,
    view: ChargeView & { at: number },
    carryOn: (() => Promise<void>) | undefined,
  ): Promise<void> {
    const [watched] = await Promise.allSettled([desk.watch(reference, view)]);
    await carryOn?.();
    if (watched.status === 'rejected' && !(watched.reason instanceof StoreUnavailable)) throw watched.reason;
  }

  /** Opens the charge that a button names, or says that there is none. */
  async function openNamed(pressed: Pressed): Promise<void> {
    const charge = await desk.find(pressed.value);
    await (charge ? open(charge, pressed) : sayUnknown(pressed));
  }

  return {
    open,
    openNamed,
    sayUnknown,

    /**
     * Shows the charge where its button was pressed: in the modal, which shows from now on what becomes of it,
     * or else as one line for the caller alone. Undefined: there is none.
     */
    async show(pressed: Pressed, charge: ChargeSeen | undefined): Promise<void> {
      const { caller, view } = pressed;
      if (!charge) return await sayUnknown(pressed);
      if (!view) {
        const { text, blocks } = chargeMessage(charge, place, { key: '', mayBeRepeat: false });
        return await pressed.reply({ text, blocks: blocks.slice(0, 1) });
      }
      // By the desk alone, now and from here on: an update of our own could arrive after a newer one of the desk's.
      await desk.watch(charge.reference, { id: view.id, userId: caller.userId, at: -Infinity });
    },

    /**
     * The charge as it is, in the submitted modal, and then `carryOn`. The modal watches only once Slack has our
     * answer, or a fast outcome would be overwritten by it, and before anything leaves, or the outcome would pass it by.
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
