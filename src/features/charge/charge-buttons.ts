import type { ActionsBlock, Button } from '@slack/types';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { nextSteps, reasonAfter } from '../../domain/decline-reason.ts';
import { actions, button } from '../../slack/kit/blocks.ts';
import { rejectionWords } from './state-lines.ts';

/** The buttons of a charge in a message, by state; none for one with which nothing is left to do. */
export function messageButtons(charge: ChargeSeen): ActionsBlock[] {
  const { reference } = charge;
  switch (charge.state.kind) {
    case 'otp':
      return row(enterCodeButton(reference));
    case 'confirming':
    case 'review':
      return row(checkButton(reference));
    case 'declined':
      return savingLinkRow(charge);
    default:
      return [];
  }
}

/** The same in the charge's own modal, where a new charge can be started from the old one's terms. */
export function modalButtons(charge: ChargeSeen): ActionsBlock[] {
  const { state } = charge;
  switch (state.kind) {
    case 'rejected': {
      const { again } = rejectionWords[state.reason ?? 'other'];
      if (again === undefined) return [];
      const change = state.reason === 'email_mismatch' ? [changeEmailButton(charge)] : [];
      return row(anotherButton(charge, again), ...change);
    }
    case 'abandoned':
    case 'wrong_codes':
    case 'expired':
      return row(anotherButton(charge, 'Charge again'));
    case 'declined':
      switch (nextSteps[reasonAfter(state.why ?? charge.bankWords, charge.nextTry)].kind) {
        case 'another_card':
          return row(anotherButton(charge, 'Choose another card'));
        case 'do_not_retry':
          return [];
        default:
          return charge.nextTry?.kind === 'allowed'
            ? row(anotherButton(charge, 'Charge again'))
            : charge.savingLink === undefined
              ? savingLinkRow(charge)
              : [];
      }
    // Its code is entered in the modal itself.
    case 'otp':
      return [];
    default:
      return messageButtons(charge);
  }
}

export function enterCodeButton(reference: string): Button {
  return button({
    actionId: chargeActions.enterCode,
    text: 'Enter code',
    value: reference,
    style: 'primary',
  });
}

export function checkButton(reference: string): Button {
  return button({ actionId: chargeActions.checkNow, text: 'Check now', value: reference });
}

export function showButton(reference: string): Button {
  return button({ actionId: chargeActions.show, text: 'Show it', value: reference });
}

function anotherButton({ reference }: ChargeSeen, text: string): Button {
  return button({ actionId: chargeActions.another, text, value: reference });
}

function changeEmailButton({ reference }: ChargeSeen): Button {
  return button({ actionId: chargeActions.changeEmail, text: 'Change the linked e-mail', value: reference });
}

function savingLinkRow({ nextTry, reference }: ChargeSeen): ActionsBlock[] {
  if (nextTry?.kind !== 'save_again') return [];
  return row(button({ actionId: chargeActions.savingLink, text: 'Payment link', value: reference }));
}

function row(...buttons: Button[]): ActionsBlock[] {
  return [actions(...buttons)];
}

/** The buttons of a charge. Each carries the charge's reference; `change` none, because its modal says which terms. */
export const chargeActions = {
  enterCode: 'otp_enter',
  resend: 'otp_resend',
  takeOver: 'otp_take_over',
  checkNow: 'charge_check',
  another: 'charge_another',
  savingLink: 'charge_link',
  change: 'charge_change',
  /** In the form: the fields that few need. */
  more: 'charge_more',
  show: 'charge_show',
  /** Opens the form of `/pay card-email` for the charge's card. */
  changeEmail: 'card_email_for',
  /** The typeahead over saved cards; its block has the same id. */
  card: 'charge_card',
} as const;
