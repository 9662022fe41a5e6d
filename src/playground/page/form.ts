import type { ActionsBlockElement, InputBlockElement, KnownBlock, SectionBlockAccessory } from '@slack/types';
import type { PageBlock } from '../protocol.ts';

/** What Slack sends for one element: its type and the value under the name that type uses. */
export type ElementState = { type: string; [field: string]: unknown };

/** block_id → action_id → state. */
export type Values = Record<string, Record<string, ElementState>>;

/** Any element a person can work; the ones that hold a value and the ones that only act. */
export type Element = ActionsBlockElement | InputBlockElement | SectionBlockAccessory;

type Placed = { blockId: string; element: Element };

/** The block as the type it names. Safe because the workspace has validated every block it shows. */
export function known(block: PageBlock): KnownBlock {
  return block as KnownBlock;
}

export function actionIdOf(element: Element): string {
  return 'action_id' in element ? (element.action_id ?? '') : '';
}

function placedElements(blocks: PageBlock[]): Placed[] {
  return blocks.flatMap((raw): Placed[] => {
    const block = known(raw);
    const blockId = raw.block_id ?? '';
    if (block.type === 'input') return [{ blockId, element: block.element }];
    if (block.type === 'actions') return block.elements.map((element) => ({ blockId, element }));
    if (block.type === 'section' && block.accessory) return [{ blockId, element: block.accessory }];
    return [];
  });
}

type Holding = { value: string; initial: string; many?: true };

/** By element type: the field in which Slack sends its value, and the one in which the app gives the first. */
const holding: Record<string, Holding> = {
  plain_text_input: { value: 'value', initial: 'initial_value' },
  email_text_input: { value: 'value', initial: 'initial_value' },
  url_text_input: { value: 'value', initial: 'initial_value' },
  number_input: { value: 'value', initial: 'initial_value' },
  datepicker: { value: 'selected_date', initial: 'initial_date' },
  timepicker: { value: 'selected_time', initial: 'initial_time' },
  static_select: { value: 'selected_option', initial: 'initial_option' },
  external_select: { value: 'selected_option', initial: 'initial_option' },
  radio_buttons: { value: 'selected_option', initial: 'initial_option' },
  users_select: { value: 'selected_user', initial: 'initial_user' },
  channels_select: { value: 'selected_channel', initial: 'initial_channel' },
  conversations_select: { value: 'selected_conversation', initial: 'initial_conversation' },
  checkboxes: { value: 'selected_options', initial: 'initial_options', many: true },
  multi_static_select: { value: 'selected_options', initial: 'initial_options', many: true },
  multi_users_select: { value: 'selected_users', initial: 'initial_users', many: true },
  multi_channels_select: { value: 'selected_channels', initial: 'initial_channels', many: true },
  multi_conversations_select: {
    value: 'selected_conversations',
    initial: 'initial_conversations',
    many: true,
  },
};

/** The name under which an element's value is sent; `value` for one that holds none. */
export function valueFieldOf(type: string): string {
  return holding[type]?.value ?? 'value';
}

/** The state an element has before anyone touched it, or undefined for one that holds none (a button). */
export function initialState(element: Element): ElementState | undefined {
  const held = holding[element.type];
  if (!held) return undefined;
  const given = new Map<string, unknown>(Object.entries(element)).get(held.initial);
  return { type: element.type, [held.value]: given ?? (held.many === true ? [] : null) };
}

/** Every stateful element as it stands: what was typed or chosen, else its initial value, else Slack's empty one. */
export function valuesOf(blocks: PageBlock[], typed: Values | undefined): Values {
  const values: Values = {};
  for (const { blockId, element } of placedElements(blocks)) {
    const actionId = actionIdOf(element);
    const state = typed?.[blockId]?.[actionId] ?? initialState(element);
    if (state) values[blockId] = { ...values[blockId], [actionId]: state };
  }
  return values;
}
