import type { ActionsBlock, Button } from '@slack/types';
import type { ChargeSeen } from '../../domain/charge.ts';
import { type Run, actions, button, code, modal, words } from '../../slack/kit/blocks.ts';
import { proofButton, referenceWord, typedReference } from '../../slack/words/evidence.ts';
import { chargeHeadline, labelled, modalFacts, plain } from '../../slack/words/charge-facts.ts';
import { outcomeWords } from '../../slack/words/state-words.ts';
import { nextSteps, reasonAfter } from '../../domain/decline-reason.ts';
import type { Modal, ViewBlock } from '../../slack/kit/message.ts';
import { type ShownAccount, accountFoot } from '../../slack/words/account-foot.ts';
import { chargeFoot, mayDeliver, rejectionWords, stateBlocks } from './charge-words.ts';
import { type Viewer, codeButtons, otpModal } from './code-modal.ts';
import { type Note, noteModal } from '../../slack/kit/note.ts';

/**
 * Action ids. The values are the charge's reference; `change` and `more` have none, because their modal has the terms.
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
export function chargeStateModal(charge: ChargeSeen, place: ShownAccount, viewer: Viewer): Modal {
  if (charge.state.kind === 'otp') return otpModal(charge, place, viewer);
  const blocks: ViewBlock[] = [
    chargeHeadline(charge).block,
    ...stateBlocks(charge),
    ...modalButtons(charge, place),
    ...(charge.state.kind === 'review' ? [] : modalFacts(charge)),
    chargeFoot(charge, place),
  ];
  return modal({ callbackId: chargeStateModalId, title: 'Charge', blocks });
}

/** The buttons of a charge's message, by its state; none if there is nothing left to do. */
export function messageButtons(charge: ChargeSeen): ActionsBlock[] {
  const { reference, state, nextTry } = charge;
  switch (state.kind) {
    case 'otp':
      return [actions(...codeButtons(charge))];
    case 'confirming':
    case 'review':
      return [actions(checkButton(reference))];
    case 'declined':
      return nextTry?.kind === 'save_again' ? [actions(chargeButton('link', 'Payment link', reference))] : [];
    default:
      return [];
  }
}

/** The buttons of a charge's modal. Some open the form for a new charge, filled with this one's terms. */
export function modalButtons(charge: ChargeSeen, { environment }: ShownAccount): ActionsBlock[] {
  const { reference, state, bankWords, nextTry } = charge;
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
      return again === undefined ? [] : chargeAgain(again);
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

function chargeButton(action: keyof typeof chargeActions, text: string, reference: string): Button {
  return button({ actionId: chargeActions[action], text, value: reference });
}

/**
 * Shown if the store failed while the charge was written. Never says that nothing was charged: if the charge was
 * stored, it is sent once, and the agent is told the outcome.
 */
export function unsureChargeModal(reference: string, place: ShownAccount): Modal {
  const note: Note = {
    state: `❔ ${outcomeWords.doubt}`,
    about: [referenceWord(reference)],
    body: [
      plain('The bot’s storage stopped answering. Money may still move, once, within a minute.'),
      labelled('Next', 'do not charge again. Look at this charge in a minute.'),
    ],
    buttons: [showButton(reference)],
    foot: accountFoot(place),
  };
  return noteModal(note, { callbackId: 'charge_unsure', title: 'Charge' });
}

/** Shown if the bot has no charge with this reference, or no longer. Undefined: the modal names no reference. */
export function unknownCharge(reference: string | undefined, place: ShownAccount): Note {
  const named = reference === undefined ? '' : typedReference(reference);
  const next: Run[] =
    named === ''
      ? [code('/pay otp'), words(' lists your open codes.')]
      : [code(`/pay lookup "${named}"`), words(' asks the payments service.')];
  return {
    state: 'No such charge here',
    about: [named],
    body: [plain('It wasn’t made with this bot, or too long ago.'), labelled('Next', ...next)],
    foot: accountFoot(place),
  };
}

export function unknownChargeModal(reference: string | undefined, place: ShownAccount): Modal {
  const window = { callbackId: 'charge_unknown', title: 'No such charge' };
  return noteModal(unknownCharge(reference, place), window);
}
