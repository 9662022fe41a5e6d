import type { ActionsBlock, Button, Overflow } from '@slack/types';
import type { AlertCardShown } from './alert.ts';
import { button, plainText } from '../../slack/kit/blocks.ts';
import { limits } from '../../slack/kit/limits.ts';
import { ownId } from '../../slack/own-account.ts';

/** The buttons of an alert's card. Each carries the card's id. */
export const alertActions = {
  acknowledge: 'alert_acknowledge',
  lookUp: 'alert_look_up',
  close: 'alert_close',
  chargeAgain: 'alert_charge_again',
  /** What fits on no button; its choices carry what they are, a colon and the card's id. */
  more: 'alert_more',
} as const;

export const moreChoices = ['look_up', 'assign', 'snooze', 'reveal'] as const;

type MoreChoice = (typeof moreChoices)[number];

export function writeMore(choice: MoreChoice, id: string): string {
  return `${choice}:${id}`;
}

/** Undefined for a value that is not ours. */
export function readMore(value: string): { choice: MoreChoice; id: string } | undefined {
  const at = value.indexOf(':');
  const choice = moreChoices.find((one) => one === value.slice(0, at));
  return choice && { choice, id: value.slice(at + 1) };
}

/** At most three, by state; none on a card that has ended. `canLookUp`: it names an order; `canReveal`: and a customer. */
export function cardButtons(
  { id, card, canChargeAgain }: AlertCardShown,
  { canLookUp, canReveal }: { canLookUp: boolean; canReveal: boolean },
): ActionsBlock[] {
  switch (card.kind) {
    case 'open':
      return row(acknowledge(id), ...(canLookUp ? [lookUp(id)] : []), close(id));
    case 'acknowledged': {
      const hidden = [
        ...(canChargeAgain && canLookUp ? (['look_up'] as const) : []),
        ...(['assign', 'snooze'] as const),
        ...(canLookUp && canReveal ? (['reveal'] as const) : []),
      ];
      const front = canChargeAgain ? [chargeAgain(id)] : canLookUp ? [lookUp(id)] : [];
      return row(...front, close(id), more(id, hidden));
    }
    case 'recovered':
    case 'closed':
      return [];
  }
}

function acknowledge(id: string): Button {
  return button({ actionId: alertActions.acknowledge, text: 'Acknowledge', value: id, style: 'primary' });
}

function lookUp(id: string): Button {
  return button({ actionId: alertActions.lookUp, text: 'Look up', value: id });
}

function close(id: string): Button {
  return button({ actionId: alertActions.close, text: 'Close…', value: id });
}

function chargeAgain(id: string): Button {
  return button({ actionId: alertActions.chargeAgain, text: 'Charge again…', value: id });
}

const choiceWords: Record<MoreChoice, string> = {
  look_up: 'Look up',
  assign: 'Assign…',
  snooze: 'Snooze…',
  reveal: 'Reveal e-mail',
};

function more(id: string, choices: readonly MoreChoice[]): Overflow {
  return {
    type: 'overflow',
    action_id: ownId(alertActions.more),
    options: choices.map((choice) => ({
      text: plainText(choiceWords[choice], limits.optionText),
      value: writeMore(choice, id),
    })),
  };
}

function row(...elements: (Button | Overflow)[]): ActionsBlock[] {
  return [{ type: 'actions', elements }];
}
