import type { PageBlock } from '../protocol.ts';
import type { Ids } from './ids.ts';

/** By element type: the field in which Slack sends its value, and the field for its initial value. Slack's own names. */
export const elementValues: Readonly<Record<string, { value: string; initial: string }>> = {
  plain_text_input: { value: 'value', initial: 'initial_value' },
  static_select: { value: 'selected_option', initial: 'initial_option' },
  external_select: { value: 'selected_option', initial: 'initial_option' },
  users_select: { value: 'selected_user', initial: 'initial_user' },
};

/** The interactive elements of blocks: their place, and their initial value. */

export type Element = { type: string; action_id?: string; [field: string]: unknown };
export type Values = Record<string, Record<string, unknown>>;
export type PlacedElement = { block: PageBlock; blockId: string; actionId: string; element: Element };

const pressable = new Set(['button', 'overflow']);

/** Names every block and interactive element that the app left unnamed, as Slack does. */
export function nameBlocks(blocks: readonly PageBlock[], ids: Ids): PageBlock[] {
  return blocks.map((block) => {
    const named: PageBlock = { ...block, block_id: block.block_id ?? ids.secret(3) };
    if (isElement(named['element'])) named['element'] = nameElement(named['element'], ids);
    const elements = named['elements'];
    if (Array.isArray(elements)) {
      named['elements'] = elements.map((one: unknown) => (isElement(one) ? nameElement(one, ids) : one));
    }
    return named;
  });
}

function nameElement(element: Element, ids: Ids): Element {
  const isInteractive = pressable.has(element.type) || elementValues[element.type] !== undefined;
  return isInteractive && element.action_id === undefined
    ? { ...element, action_id: ids.secret(3) }
    : element;
}

function placedElements(blocks: readonly PageBlock[]): PlacedElement[] {
  return blocks.flatMap((block) => {
    const elements = Array.isArray(block['elements']) ? block['elements'] : [];
    return [block['element'], ...elements]
      .filter(isElement)
      .filter((element) => element.action_id !== undefined)
      .map((element) => ({
        block,
        blockId: block.block_id ?? '',
        actionId: element.action_id ?? '',
        element,
      }));
  });
}

export function findElement(
  blocks: readonly PageBlock[],
  blockId: string,
  actionId: string,
): PlacedElement | undefined {
  return placedElements(blocks).find((placed) => placed.blockId === blockId && placed.actionId === actionId);
}

/**
 * The `state.values` that Slack would send: for each element that holds a value, the person's input, else the app's
 * initial value, else empty. Values for other elements are dropped.
 */
export function completeValues(blocks: readonly PageBlock[], given: Values): Values {
  const values: Values = {};
  for (const { blockId, actionId, element } of placedElements(blocks)) {
    const kind = elementValues[element.type];
    if (kind === undefined) continue;
    const touched = given[blockId]?.[actionId];
    const held = isElement(touched) ? touched[kind.value] : undefined;
    const value = held === undefined ? (element[kind.initial] ?? null) : held;
    values[blockId] = {
      ...values[blockId],
      [actionId]: { type: element.type, [kind.value]: value === '' ? null : value },
    };
  }
  return values;
}

/** The same, if Slack leaves out prefilled fields that the person did not touch. */
export function withoutUntouched(blocks: readonly PageBlock[], touched: Values, values: Values): Values {
  const sent = structuredClone(values);
  for (const { blockId, actionId, element } of placedElements(blocks)) {
    const kind = elementValues[element.type];
    const state = sent[blockId]?.[actionId];
    if (kind === undefined || !isElement(state) || touched[blockId]?.[actionId] !== undefined) continue;
    if (element[kind.initial] !== undefined) state[kind.value] = null;
  }
  return sent;
}

/** The values of elements that still exist: without its field a typed code is lost. */
export function stillThere(blocks: readonly PageBlock[], given: Values): Values {
  const values: Values = {};
  for (const { blockId, actionId } of placedElements(blocks)) {
    const held = given[blockId]?.[actionId];
    if (held !== undefined) values[blockId] = { ...values[blockId], [actionId]: held };
  }
  return values;
}

/** Errors by block_id that Slack's client shows without asking the app. */
export function unfilledInputs(blocks: readonly PageBlock[], values: Values): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const { block, blockId, actionId, element } of placedElements(blocks)) {
    const kind = elementValues[element.type];
    if (block.type !== 'input' || kind === undefined) continue;
    const state = values[blockId]?.[actionId];
    const value = isElement(state) ? state[kind.value] : undefined;
    const problem = inputProblem(element, value, block['optional'] === true);
    if (problem !== undefined) problems[blockId] = problem;
  }
  return problems;
}

function inputProblem(element: Element, value: unknown, optional: boolean): string | undefined {
  if (value === null || value === undefined) {
    return optional ? undefined : 'Please complete this required field.';
  }
  if (typeof value !== 'string') return undefined;
  const { min_length: shortest, max_length: longest } = element;
  if (typeof shortest === 'number' && value.length < shortest) return `Use at least ${shortest} characters.`;
  if (typeof longest === 'number' && value.length > longest) return `Use at most ${longest} characters.`;
  return undefined;
}

function isElement(value: unknown): value is Element {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
