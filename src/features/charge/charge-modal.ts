import { isDeepStrictEqual } from 'node:util';
import type { ActionsBlock, Button } from '@slack/types';
import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import type { Caller, OpenModal, Pressed, ViewAnswer } from '../../slack/command.ts';
import { updateModal } from '../../slack/kit/modals.ts';
import { type Run, actions, button, code, modal, words } from '../../slack/kit/blocks.ts';
import { proofButton, referenceWord, typedReference } from '../../slack/words/payment-words.ts';
import { chargeHead, chargeHeadline, labelled, modalFacts, plain } from '../../slack/words/charge-facts.ts';
import { outcomeWords } from '../../slack/words/state-words.ts';
import { nextSteps, reasonAfter } from '../../domain/decline-reason.ts';
import type { Modal, ViewBlock } from '../../slack/kit/message.ts';
import { type ShownAccount, accountFoot } from '../../slack/words/account-foot.ts';
import { chargeFoot, mayDeliver, rejectionWords, stateBlocks } from './charge-words.ts';
import { type Viewer, codeButtons, otpModal } from './code-modal.ts';
import { type Note, noteMessage, noteModal } from '../../slack/kit/note.ts';
import { type ChargeView, hasMovedNothing } from './charge-record.ts';

/**
 * Action ids. The values are the charge's reference; `change` and `more` have none, and `link` in a review: their modal has
 * the terms.
 */
export const chargeActions = {
  checkNow: 'charge_check',
  another: 'charge_another',
  /** Opens the form of `/pay link`: the customer pays with the link, and saves the card again. */
  link: 'charge_link',
  change: 'charge_change',
  /** Shows the form's other fields. */
  more: 'charge_more',
  show: 'charge_show',
  /** The typeahead of saved cards; its block has the same id. */
  card: 'charge_card',
} as const;

/** This modal has nothing to submit. */
const chargeStateModalId = 'charge_state';

/** A charge's modal, in any state: while the charge continues, and when it is opened again. */
export function chargeStateModal(charge: ChargeSeen, account: ShownAccount, viewer: Viewer): Modal {
  if (charge.state.kind === 'otp') return otpModal(charge, account, viewer);
  const blocks: ViewBlock[] = [
    chargeHeadline(charge).block,
    ...stateBlocks(charge),
    ...modalButtons(charge, account),
    ...(charge.state.kind === 'review' ? [] : modalFacts(charge)),
    chargeFoot(charge, account),
  ];
  return modal({ callbackId: chargeStateModalId, title: 'Charge', blocks });
}

/** The functions of `ChargeOperations` that modals need. */
type WatchedCharges = {
  find: (reference: string) => Promise<ChargeSeen | undefined>;
  watch: (reference: string, view: ChargeView & { shown?: ChargeSeen }) => Promise<void>;
};

export type ChargeViews = ReturnType<typeof createChargeViews>;

/** Opens and updates the modals of charges, for all verbs. */
export function createChargeViews(
  { shownAccount, now }: Pick<Account, 'shownAccount' | 'now'>,
  operations: WatchedCharges,
) {
  /** The charge's modal for this person: only the agent gets the field for the code. */
  const modalFor = (charge: ChargeSeen, viewerId: string) =>
    chargeStateModal(charge, shownAccount, { nowMs: now(), viewerId });

  /** Opens the charge in a modal, which later steps update. */
  async function open(
    charge: ChargeSeen,
    { caller: { userId }, openModal }: { caller: Caller; openModal: OpenModal },
  ): Promise<void> {
    const id = await openModal(modalFor(charge, userId));
    await operations.watch(charge.reference, { id, userId, shown: charge });
  }

  /** Says that there is no such charge: in the modal if its button was in one, else to the caller alone. */
  async function sayUnknown(pressed: Pressed): Promise<void> {
    const { value, view, reply } = pressed;
    if (view) return await pressed.updateModal(unknownChargeModal(value, shownAccount));
    await reply(noteMessage(unknownCharge(value, shownAccount)));
  }

  /**
   * Registers the modal and runs `carryOn`. If the store fails at registering, don't show an error: the usual one says
   * that nothing was sent, but the charge is stored and continues. The modal then isn't updated, and the agent gets a
   * direct message.
   */
  async function watchAndCarryOn(
    reference: string,
    view: ChargeView & { shown?: ChargeSeen },
    carryOn: (() => Promise<void>) | undefined,
  ): Promise<void> {
    const [watched] = await Promise.allSettled([operations.watch(reference, view)]);
    await carryOn?.();
    if (watched.status === 'rejected' && !(watched.reason instanceof StoreUnavailable)) throw watched.reason;
  }

  async function openNamed(pressed: Pressed): Promise<void> {
    const charge = await operations.find(pressed.value);
    await (charge ? open(charge, pressed) : sayUnknown(pressed));
  }

  return {
    open,
    openNamed,

    /**
     * The charge that the button names, if it ended without taking money and nothing else pays for it. Otherwise shows the
     * charge, and returns undefined: an outdated message may still offer to charge it again.
     */
    async findUnpaid(pressed: Pressed): Promise<ChargeSeen | undefined> {
      const charge = await operations.find(pressed.value);
      if (charge && hasMovedNothing(charge) && !charge.taken) return charge;
      await (charge ? open(charge, pressed) : sayUnknown(pressed));
      return undefined;
    },

    sayUnknown,

    /**
     * Shows the charge where its button was pressed: in the modal, which later steps update, or as one line for the
     * caller alone. Without a charge says that there is none.
     */
    async show(pressed: Pressed, charge: ChargeSeen | undefined): Promise<void> {
      const { caller, view } = pressed;
      if (!charge) return await sayUnknown(pressed);
      if (!view) return await pressed.reply(noteMessage(chargeHead(charge)));
      // Only `operations.watch` updates this modal: an update from here could arrive after a newer one.
      await operations.watch(charge.reference, { id: view.id, userId: caller.userId });
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
      const view = { id: viewId, userId, shown: charge };
      return {
        kind: 'update',
        modal: modalFor(charge, userId),
        carryOn: () => watchAndCarryOn(charge.reference, view, carryOn),
      };
    },
  };
}

type Shown = { charge: ChargeSeen; views: readonly ChargeView[] };

/**
 * Returns a function that shows the stored charge in its modals, and resolves to true if the agent has one of them
 * open. Updates of a charge run one after the other, so that no modal goes back to an older state. If the charge was
 * changed meanwhile, the modals are updated once more: our update may have arrived after a newer one of another
 * replica. A modal may be closed, so important news needs a message as well.
 */
export function createShowCharge(
  { slack, shownAccount, now, log }: Account,
  find: (reference: string) => Promise<Shown | undefined>,
) {
  /** By reference: the update that was requested last, and the one that has not begun. */
  const last = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<boolean>>();

  async function update(charge: ChargeSeen, { id, userId }: ChargeView): Promise<boolean> {
    try {
      const modal = chargeStateModal(charge, shownAccount, { nowMs: now(), viewerId: userId });
      return (await updateModal(slack.interactive, { viewId: id, modal }, log)) === 'shown';
    } catch (error) {
      log('error', 'A charge could not be shown', { orderReference: charge.reference }, error);
      return false;
    }
  }

  async function updateAll(reference: string): Promise<boolean> {
    let shown = await find(reference);
    for (;;) {
      if (!shown) return false;
      const { charge, views } = shown;
      const results = await Promise.all(views.map((view) => update(charge, view)));
      const current = await find(reference);
      if (!current || isDeepStrictEqual(current.charge, charge)) {
        return views.some(({ userId }, index) => userId === charge.agent && results[index]);
      }
      shown = current;
    }
  }

  return async function show(reference: string): Promise<boolean> {
    // An update that hasn't begun yet will read the charge later than this call, so share it.
    const waiting = next.get(reference);
    if (waiting) return await waiting;
    const own = (last.get(reference) ?? Promise.resolve()).then(() => {
      next.delete(reference);
      return updateAll(reference);
    });
    const ended = own.catch(() => undefined);
    next.set(reference, own);
    last.set(reference, ended);
    try {
      return await own;
    } finally {
      if (last.get(reference) === ended) last.delete(reference);
    }
  };
}

/** The buttons of a charge's message, by its state; none if there is nothing left to do. */
export function messageButtons(charge: ChargeSeen): ActionsBlock[] {
  const { reference, state, nextTry, taken } = charge;
  if (taken) return [];
  switch (state.kind) {
    case 'otp':
      return [actions(...codeButtons(charge))];
    case 'confirming':
    case 'review':
      return [actions(checkButton(reference))];
    case 'declined':
      return nextTry?.kind === 'save_again' ? [actions(linkButton(reference))] : [];
    default:
      return [];
  }
}

/** The buttons of a charge's modal. Some open the form for a new charge, filled with this one's terms. */
export function modalButtons(charge: ChargeSeen, { environment }: ShownAccount): ActionsBlock[] {
  const { reference, state, bankWords, nextTry, taken } = charge;
  if (taken) return [];
  const chargeAgain = (text: string) => [actions(chargeButton('another', text, reference))];
  switch (state.kind) {
    case 'otp':
      // The modal already has the field for the code.
      return [];
    case 'approved': {
      // No proof if people must first find out whether to give the money back.
      const proof = mayDeliver(charge) ? proofButton(environment, reference, charge.terms.money.minor) : [];
      return proof.length === 0 ? [] : [actions(...proof)];
    }
    case 'rejected': {
      const { again } = rejectionWords[state.reason ?? 'other'];
      if (again === undefined) return [];
      const link = state.reason === 'invalid_token' ? [linkButton(reference)] : [];
      return [actions(chargeButton('another', again, reference), ...link)];
    }
    case 'abandoned':
    case 'wrong_codes':
    case 'expired':
      return chargeAgain('Charge again');
    case 'declined': {
      const { kind } = nextSteps[reasonAfter(state.why ?? bankWords, nextTry)];
      if (kind === 'do_not_retry') return [];
      if (kind === 'another_card') return chargeAgain('Choose another card');
      return nextTry?.kind === 'allowed' ? chargeAgain('Charge again') : messageButtons(charge);
    }
    default:
      return messageButtons(charge);
  }
}

export function checkButton(reference: string): Button {
  return chargeButton('checkNow', 'Look up', reference);
}

export function showButton(reference: string): Button {
  return chargeButton('show', 'Show it', reference);
}

/** Opens the form for a payment link. `reference`: of the charge; absent in a review. */
export function linkButton(reference?: string): Button {
  return chargeButton('link', 'Payment link', reference);
}

function chargeButton(action: keyof typeof chargeActions, text: string, reference?: string): Button {
  return button({ actionId: chargeActions[action], text, ...withoutUndefined({ value: reference }) });
}

/**
 * Shown if the store failed while the charge was written. Never says that nothing was charged: if the charge was
 * stored, it is sent once, and the agent is told the outcome.
 */
export function unsureChargeModal(reference: string, account: ShownAccount): Modal {
  const note: Note = {
    state: `❔ ${outcomeWords.doubt}`,
    about: [referenceWord(reference)],
    body: [
      plain('The bot’s storage stopped answering. Money may still move, once, within a minute.'),
      labelled('Next', 'do not charge again. Look at this charge in a minute.'),
    ],
    buttons: [showButton(reference)],
    foot: accountFoot(account),
  };
  return noteModal(note, { callbackId: 'charge_unsure', title: 'Charge' });
}

/** Shown if the bot has no charge with this reference, or no longer. Undefined: the modal names no reference. */
export function unknownCharge(reference: string | undefined, account: ShownAccount): Note {
  const named = reference === undefined ? '' : typedReference(reference);
  const next: Run[] =
    named === ''
      ? [code('/pay otp'), words(' lists your open codes.')]
      : [code(`/pay lookup "${named}"`), words(' asks the payments service.')];
  return {
    state: 'No such charge here',
    about: [named],
    body: [plain('It wasn’t made with this bot, or too long ago.'), labelled('Next', ...next)],
    foot: accountFoot(account),
  };
}

export function unknownChargeModal(reference: string | undefined, account: ShownAccount): Modal {
  const window = { callbackId: 'charge_unknown', title: 'No such charge' };
  return noteModal(unknownCharge(reference, account), window);
}
