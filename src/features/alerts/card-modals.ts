// The forms of a card: each asks for one thing and carries the card's id. What is submitted is read beside it.

import type { InputBlock } from '@slack/types';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import { modal, plainText, richText, select, textInput, words } from '../../slack/kit/blocks.ts';
import { placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';
import type { ViewValues } from '../../slack/command.ts';
import { limits } from '../../slack/kit/limits.ts';
import type { Modal } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';

export const closeModalId = 'alert_close';
export const assignModalId = 'alert_assign';
export const snoozeModalId = 'alert_snooze';

export const cardFieldIds = {
  reason: 'alert_close_reason',
  assignee: 'alert_assignee',
  snooze: 'alert_snooze_for',
} as const;

const longestReason = 300;

export function closeModal(id: string, place: ChargePlace): Modal {
  return modal({
    callbackId: closeModalId,
    title: placeTitle('Close alert', place),
    submit: 'Close the alert',
    close: 'Back',
    privateMetadata: id,
    blocks: [
      richText([words('The alert keeps its first line and your reason. No money moves.')]),
      textInput({
        id: cardFieldIds.reason,
        label: 'Reason',
        placeholder: 'The customer paid in cash',
        hint: 'Everybody in the channel sees it.',
        maxLength: longestReason,
        focus: true,
      }),
      placeFoot(place),
    ],
  });
}

export function readCloseModal(values: ViewValues): Parsed<string> {
  const reason = oneLine(values[cardFieldIds.reason] ?? '');
  return reason === '' ? problem('Say in a few words why.') : parsed(reason);
}

export function assignModal(id: string, place: ChargePlace): Modal {
  const input: InputBlock = {
    type: 'input',
    block_id: cardFieldIds.assignee,
    label: plainText('Assign to', limits.inputLabel),
    hint: plainText('They get a direct message now, and when a payment resolves it.', limits.inputHint),
    element: { type: 'users_select', action_id: cardFieldIds.assignee },
  };
  return modal({
    callbackId: assignModalId,
    title: placeTitle('Assign alert', place),
    submit: 'Assign',
    close: 'Back',
    privateMetadata: id,
    blocks: [input, placeFoot(place)],
  });
}

export function readAssignModal(values: ViewValues): Parsed<string> {
  const userId = values[cardFieldIds.assignee] ?? '';
  return /^[UW][A-Z0-9]+$/.test(userId) ? parsed(userId) : problem('Choose a person.');
}

const hourMs = 3_600_000;

const snoozes = [
  { text: '1 hour', value: '1' },
  { text: '4 hours', value: '4' },
  { text: '1 day', value: '24' },
  { text: '3 days', value: '72' },
  { text: '1 week', value: '168' },
] as const;

export function snoozeModal(id: string, place: ChargePlace): Modal {
  return modal({
    callbackId: snoozeModalId,
    title: placeTitle('Snooze alert', place),
    submit: 'Snooze',
    close: 'Back',
    privateMetadata: id,
    blocks: [
      select({
        id: cardFieldIds.snooze,
        label: 'For how long',
        hint: 'Then the thread says so and the assignee gets a direct message. A payment still resolves it.',
        choices: snoozes,
        initial: '4',
      }),
      placeFoot(place),
    ],
  });
}

/** Milliseconds. */
export function readSnoozeModal(values: ViewValues): Parsed<number> {
  const chosen = snoozes.find(({ value }) => value === values[cardFieldIds.snooze]);
  return chosen ? parsed(Number(chosen.value) * hourMs) : problem('Choose how long.');
}
