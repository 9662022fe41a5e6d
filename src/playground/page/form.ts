import { elementValues } from './element-values.ts';
import type { ActionsBlockElement, InputBlockElement, KnownBlock, SectionBlockAccessory } from '@slack/types';
import type { PageBlock } from '../../simulators/protocol.ts';

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

/** The name under which an element's value is sent; `value` for one that holds none. */
export function valueFieldOf(type: string): string {
  return elementValues[type]?.value ?? 'value';
}

/** The state an element has before anyone touched it, or undefined for one that holds none (a button). */
export function initialState(element: Element): ElementState | undefined {
  const held = elementValues[element.type];
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
