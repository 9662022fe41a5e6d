import type { BlockAction, BlockElementAction, ViewOutput, ViewStateValue } from '@slack/bolt';
import { holdsCardNumber } from '../../domain/card.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { Caller, Pressed, ViewValues } from '../command.ts';
import { unescape } from '../kit/text.ts';
import { fieldName, hasNewId } from '../kit/field-ids.ts';

/** The person's part of every press, form and typeahead. */
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

/** The thread of a pressed message; undefined for a thread's first message. */
export function threadOf({ container, message }: Threaded): string | undefined {
  const thread = container?.['thread_ts'] ?? message?.['thread_ts'];
  return typeof thread === 'string' && thread !== message?.['ts'] ? thread : undefined;
}

type Threaded = {
  container?: Record<string, unknown> | undefined;
  message?: Record<string, unknown> | undefined;
};

export function fromOf({ view }: BlockAction): NonNullable<Caller['from']> {
  if (!view) return 'message';
  return view.type === 'modal' ? 'modal' : 'home';
}

/** A button's or choice's value. Never typed text, because values become part of keys in the store. */
export function valueOf(action: BlockElementAction): string {
  if (action.type.endsWith('_input')) return '';
  if ('selected_option' in action) return action.selected_option?.value ?? '';
  return 'value' in action && typeof action.value === 'string' ? action.value : '';
}

/** Text of the field in which Enter was pressed. */
export function typedBy(action: BlockElementAction): { typed?: string } {
  if (action.type !== 'plain_text_input') return {};
  return { typed: action.value ?? '' };
}

/** The label of the pressed element, which Slack sends escaped. */
export function labelOf(action: BlockElementAction): string {
  const text: unknown =
    'selected_option' in action ? action.selected_option?.text : 'text' in action ? action.text : undefined;
  const words = isJsonObject(text) && typeof text['text'] === 'string' ? text['text'] : '';
  return unescape(words).replace(/\s*…$/u, '') || 'This';
}

/** Identifies what holds the button: a message by channel and time, a view by its state at the press. */
export function containerKey({ container, view }: BlockAction): string {
  return view ? `${view.id}:${view.hash}` : `${container['channel_id']}:${container['message_ts']}`;
}

type State = ViewOutput['state'];
type SentView = Pick<ViewOutput, 'state' | 'blocks'>;

/**
 * The values of this view's fields: the first filled element of each block. Slack may send the previous view's state, so
 * values of other blocks are dropped.
 */
export function viewValues({ state, blocks }: SentView): ViewValues {
  const filled = blocks.flatMap(({ block_id: blockId = '' }) => {
    const value = sentValue(state, blockId);
    return value === undefined ? [] : [[fieldName(blockId), value] as const];
  });
  return Object.fromEntries(filled);
}

/** The values at a press. A press decides nothing, so an initial value that Slack didn't send counts as well. */
export function shownValues(view: SentView): ViewValues {
  const initial = inputsOf(view)
    .filter(({ isNew }) => isNew)
    .flatMap(({ name, initial: value }) => (value === undefined ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(initial), ...viewValues(view) };
}

/**
 * Errors, by field name, for inputs whose value Slack did not send. A required input always gets one: a person can't leave
 * it empty. An optional input gets one the first time (`first`) if it was prefilled or its state is missing, since the
 * person may have emptied it.
 */
export async function unsentFields(
  view: SentView,
  first: (blockId: string) => Promise<boolean>,
): Promise<Record<string, string> | undefined> {
  // Blanks count as sent: the person typed them.
  const unsent = inputsOf(view).filter(
    ({ blockId }) => !valuesOf(view.state, blockId).some((text) => text !== ''),
  );
  const required = unsent.filter(({ isOptional }) => !isOptional);
  if (required.length > 0)
    return Object.fromEntries(
      required.map(({ name, initial }) => [
        name,
        initial === undefined ? unsentWords.typed : unsentWords.shown,
      ]),
    );
  const told: [string, string][] = [];
  for (const { blockId, name, initial, isNew } of unsent) {
    const isDoubtful = view.state.values[blockId] === undefined || (isNew && initial !== undefined);
    if (isDoubtful && (await first(blockId))) told.push([name, unsentWords.optional]);
  }
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

const unsentWords = {
  typed: 'Slack sent this form without what you typed: send it once more.',
  shown: 'Slack sent this form without what stands here. Fill it in again and send it once more.',
  optional: 'Slack sent this field empty. Fill it in again, or send once more to leave it empty.',
};

type Input = { blockId: string; name: string; isOptional: boolean; isNew: boolean; initial?: string };

function inputsOf({ blocks }: SentView): Input[] {
  return blocks.flatMap((block) => {
    if (block.type !== 'input' || !('element' in block)) return [];
    const { block_id: blockId = '', element } = block;
    const initial = initialValue(element);
    return [
      {
        blockId,
        name: fieldName(blockId),
        isOptional: isJsonObject(block) && block['optional'] === true,
        isNew: hasNewId(blockId),
        ...(initial === undefined ? {} : { initial }),
      },
    ];
  });
}

function initialValue(element: unknown): string | undefined {
  if (!isJsonObject(element)) return undefined;
  const { initial_value: text, initial_user: user, initial_option: option } = element;
  const value = text ?? user ?? (isJsonObject(option) ? option['value'] : undefined);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function sentValue(state: State | undefined, blockId: string): string | undefined {
  return valuesOf(state, blockId).find((text) => text.trim() !== '');
}

function valuesOf(state: State | undefined, blockId: string): string[] {
  return Object.values(state?.values[blockId] ?? {})
    .map(stateValue)
    .filter((text) => text !== undefined);
}

function stateValue(element: ViewStateValue): string | undefined {
  return element.value ?? element.selected_option?.value ?? element.selected_user ?? undefined;
}

/** Blocks with a typed card number. Choices are the bot's own text. */
export function blocksWithCardNumber(state: State | undefined): string[] {
  return Object.entries(state?.values ?? {})
    .filter(([, elements]) => Object.values(elements).some((element) => holdsCardNumber(typedIn(element))))
    .map(([blockId]) => blockId);
}

function typedIn(element: ViewStateValue): string {
  return element.value ?? allText(element.rich_text_value);
}

/** Joined without a gap: a half-bold number is one number. */
function allText(rich: unknown): string {
  if (Array.isArray(rich)) return rich.map(allText).join('');
  if (!isJsonObject(rich)) return '';
  return typeof rich['text'] === 'string' ? rich['text'] : allText(rich['elements']);
}
