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

export type MoreChoice = (typeof moreChoices)[number];

export function writeMore(choice: MoreChoice, id: string): string {
  return `${choice}:${id}`;
}

/** Undefined for a value that is not ours. */
export function readMore(value: string): { choice: MoreChoice; id: string } | undefined {
  const at = value.indexOf(':');
  const choice = moreChoices.find((one) => one === value.slice(0, at));
  return choice && { choice, id: value.slice(at + 1) };
}
