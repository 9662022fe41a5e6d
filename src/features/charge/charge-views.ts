import type { WebClient } from '@slack/web-api';
import type { ChargeSeen } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import type { Caller, OpenModal, Pressed, ViewAnswer } from '../../slack/command.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import type { AlertTaken } from '../../domain/alert.ts';
import type { Approval } from '../../domain/approval.ts';
import type { KnownCards } from '../../domain/saved-card.ts';
import type { Log } from '../../log.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { updateModal } from '../../slack/kit/modals.ts';
import type { ChargeDesk } from './charge-desk.ts';
import type { ChargeView } from './charge-record.ts';
import { chargeMessage } from './charge-messages.ts';
import { chargeStateModal, unknownCharge, unknownChargeModal } from './charge-screens.ts';
import type { ChargeModalOptions } from './charge-forms.ts';

// How a charge gets in front of a person: shared by the verbs that show one.

export type ShowDeps = ChargePlace & { desk: ChargeDesk; now: () => number };

/** The charge as this person sees it: only whose it is gets the field for the code. */
export function stateModal(deps: ShowDeps, charge: ChargeSeen, viewerId: string): Modal {
  return chargeStateModal(charge, deps, { nowMs: deps.now(), viewerId });
}

/** Opens the charge in front of the person; the modal shows what becomes of it. */
export async function openCharge(
  deps: ShowDeps,
  charge: ChargeSeen,
  { caller, openModal }: { caller: Caller; openModal: OpenModal },
): Promise<void> {
  const id = await openModal(stateModal(deps, charge, caller.userId));
  await deps.desk.watch(charge.reference, { id, userId: caller.userId, at: charge.at });
}

/** Opens the charge that a button names, or says that there is none. */
export async function openNamed(deps: ShowDeps, pressed: Pressed): Promise<void> {
  const charge = await deps.desk.find(pressed.value);
  await (charge ? openCharge(deps, charge, pressed) : sayUnknown(deps, pressed));
}

/**
 * Shows the charge where its button was pressed: in the modal, which shows from now on what becomes of it,
 * or else as one line for the caller alone.
 */
export async function showCharge(deps: ShowDeps, pressed: Pressed, charge: ChargeSeen): Promise<void> {
  const { caller, view } = pressed;
  if (!view) {
    const { text, blocks } = chargeMessage(charge, deps, { key: '', mayBeRepeat: false });
    return await pressed.reply({ text, blocks: blocks.slice(0, 1) });
  }
  // By the desk alone, now and from here on: an update of our own could arrive after a newer one of the desk's.
  await deps.desk.watch(charge.reference, { id: view.id, userId: caller.userId, at: -Infinity });
}

/** A modal's button is answered in the modal, any other to the caller alone. */
export async function sayUnknown(
  deps: ShowDeps,
  { value, view, reply, updateModal }: Pressed,
): Promise<void> {
  await (view
    ? updateModal(unknownChargeModal(value, deps))
    : reply(noteMessage(unknownCharge(value, deps))));
}

/** Where a modal's dialogue and its person are told what becomes of the charge. */
type Watcher = { viewId: string; caller: Caller };

/**
 * The charge as it is, in the submitted modal, and then `carryOn`. The modal watches only once Slack has our
 * answer, or a fast outcome would be overwritten by it, and before anything leaves, or the outcome would pass it by.
 */
export function showAndCarryOn(
  deps: ShowDeps,
  charge: ChargeSeen,
  { viewId, caller }: Watcher,
  carryOn?: () => Promise<void>,
): ViewAnswer {
  const view = { id: viewId, userId: caller.userId, at: charge.at };
  return {
    kind: 'update',
    modal: stateModal(deps, charge, caller.userId),
    carryOn: () => watchAndCarryOn(deps, charge.reference, view, carryOn),
  };
}

/**
 * What is stored goes on, watched or not: without the store the modal stays as it is and the agent is told by
 * direct message. That is no error to report, least of all in the store's words, which say that nothing was sent.
 */
async function watchAndCarryOn(
  { desk }: ShowDeps,
  reference: string,
  view: { id: string; userId: string; at: number },
  carryOn: (() => Promise<void>) | undefined,
): Promise<void> {
  const [watched] = await Promise.allSettled([desk.watch(reference, view)]);
  await carryOn?.();
  if (watched.status === 'rejected' && !(watched.reason instanceof StoreUnavailable)) throw watched.reason;
}

/** What the form of a charge is filled and submitted with, besides. */
export type ChargeScreens = ShowDeps & {
  /** Undefined when remembering cards is switched off: then every token key is pasted. */
  ledger: KnownCards | undefined;
  /** What may be charged in, the usual one first. */
  currencies: readonly string[];
  /** What the window says of a charge that a second person decides. */
  requestModal: (approval: Approval) => Modal;
  /** The form of `/pay link`, filled in. */
  linkForm: (
    filled: { amountMinor: number; currency: string; customerEmail?: string; customerId?: string },
    caller: Caller,
  ) => Modal;
  /** Why no charge is begun from an alert now. */
  takenMessage: (taken: AlertTaken, askedBy: string) => SlackMessage;
};

/** What every form for a charge has, whatever stands in it. */
export function formParts(
  deps: ChargePlace & Pick<ChargeScreens, 'currencies' | 'ledger'>,
): Pick<ChargeModalOptions, 'place' | 'currencies' | 'ledger'> {
  return { place: deps, currencies: deps.currencies, ledger: deps.ledger !== undefined };
}

/** For so many modals the last step is remembered; a dialogue is over long before. */
const remembered = 200;

type Shown = { at: number; isShown: boolean };

/**
 * Puts a charge as it is into the modals that show it, one update after the other for each modal and none older than
 * what it shows. True when the agent in charge has one of them open. Never throws: a modal may be closed at any time,
 * and what must be known stands in a message too.
 */
export function createShowCharge(deps: {
  client: WebClient;
  place: ChargePlace;
  now: () => number;
  log: Log;
}) {
  const last = new Map<string, Promise<Shown>>();

  async function update(
    charge: ChargeSeen,
    { id, userId }: ChargeView,
    before: Promise<Shown> | undefined,
  ): Promise<Shown> {
    const earlier = await before;
    // Steps can overtake each other on the way here; the screen must not go back.
    if (earlier && earlier.at > charge.at) return earlier;
    try {
      const modal = chargeStateModal(charge, deps.place, { nowMs: deps.now(), viewerId: userId });
      const end = await updateModal(deps.client, { viewId: id, modal }, deps.log);
      return { at: charge.at, isShown: end === 'shown' };
    } catch (error) {
      deps.log('error', 'A charge could not be shown', { orderReference: charge.reference }, error);
      return { at: charge.at, isShown: false };
    }
  }

  return async function show(charge: ChargeSeen, views: readonly ChargeView[]): Promise<boolean> {
    const results = await Promise.all(
      views.map((view) => {
        const shown = update(charge, view, last.get(view.id));
        last.delete(view.id);
        last.set(view.id, shown);
        const [oldest] = last.keys();
        if (last.size > remembered && oldest !== undefined) last.delete(oldest);
        return shown;
      }),
    );
    return views.some(({ userId }, index) => userId === charge.agent && results[index]?.isShown);
  };
}
