import type { BlockAction, BlockElementAction, ViewOutput, ViewStateValue } from '@slack/bolt';
import { holdsCardNumber } from '../../domain/card.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { Caller, Pressed, ViewValues } from '../command.ts';

/** What every payload of a press, a form or a typeahead says of the person. */
type Payload = {
  user: { id: string; team_id?: string };
  team: { id: string } | null;
  channel?: { id: string };
};

export function callerOf({ user, team, channel }: Payload, from: NonNullable<Caller['from']>): Caller {
  const teamId = user.team_id ?? team?.id;
  return {
    userId: user.id,
    ...(teamId === undefined ? {} : { teamId }),
    ...(channel === undefined ? {} : { channelId: channel.id }),
    from,
  };
}

export function messageOf({ container }: BlockAction): Pick<Pressed, 'message'> {
  const { channel_id: channel, message_ts: ts, is_ephemeral: isEphemeral } = container;
  if (typeof channel !== 'string' || typeof ts !== 'string' || isEphemeral === true) return {};
  return { message: { channel, ts } };
}

export function fromOf({ view }: BlockAction): NonNullable<Caller['from']> {
  if (!view) return 'message';
  return view.type === 'modal' ? 'modal' : 'home';
}

/** Of a button or a choice. What a person typed is never a value: it would end in the store, as part of a key. */
export function valueOf(action: BlockElementAction): string {
  if (action.type.endsWith('_input')) return '';
  if ('selected_option' in action) return action.selected_option?.value ?? '';
  return 'value' in action && typeof action.value === 'string' ? action.value : '';
}

/** What the person read on what they pressed. */
export function labelOf(action: BlockElementAction): string {
  const text: unknown =
    'selected_option' in action ? action.selected_option?.text : 'text' in action ? action.text : undefined;
  const words = isJsonObject(text) && typeof text['text'] === 'string' ? text['text'] : '';
  return words.replace(/\s*…$/u, '') || 'This';
}

/** A message is known by its channel and time, a view by the state in which its button was pressed. */
export function placeKey({ container, view }: BlockAction): string {
  return view ? `${view.id}:${view.hash}` : `${container['channel_id']}:${container['message_ts']}`;
}

type State = ViewOutput['state'];

/** What stands in the inputs, one value for each block; of a block with several elements the first that is filled. */
export function viewValues(state: State | undefined): ViewValues {
  const filled = Object.entries(state?.values ?? {}).flatMap(([blockId, elements]) => {
    const value = Object.values(elements)
      .map(stateValue)
      .find((text) => text !== undefined && text.trim() !== '');
    return value === undefined ? [] : [[blockId, value] as const];
  });
  return Object.fromEntries(filled);
}

function stateValue(element: ViewStateValue): string | undefined {
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
