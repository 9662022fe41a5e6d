import type { ViewOutput, ViewStateValue } from '@slack/bolt';
import { holdsCardNumber } from '../../domain/card-number.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import type { ViewValues } from '../command.ts';

type State = ViewOutput['state'];

/** What stands in the inputs, one value for each block; of a block with several elements the first that is filled. */
export function viewValues(state: State | undefined): ViewValues {
  const filled = Object.entries(state?.values ?? {}).flatMap(([blockId, elements]) => {
    const value = Object.values(elements)
      .map(valueOf)
      .find((text) => text !== undefined && text.trim() !== '');
    return value === undefined ? [] : [[blockId, value] as const];
  });
  return Object.fromEntries(filled);
}

function valueOf(element: ViewStateValue): string | undefined {
  return element.value ?? element.selected_option?.value ?? element.selected_user ?? undefined;
}

/** The blocks in which somebody typed a card number. What was chosen is the bot's own text. */
export function blocksWithCardNumber(state: State | undefined): string[] {
  return Object.entries(state?.values ?? {})
    .filter(([, elements]) => Object.values(elements).some((element) => holdsCardNumber(typedIn(element))))
    .map(([blockId]) => blockId);
}

function typedIn(element: ViewStateValue): string {
  return element.value ?? allText(element.rich_text_value);
}

/** Joined without a gap: a number half in bold is still one number. */
function allText(rich: unknown): string {
  if (Array.isArray(rich)) return rich.map(allText).join('');
  if (!isJsonObject(rich)) return '';
  return typeof rich['text'] === 'string' ? rich['text'] : allText(rich['elements']);
}
