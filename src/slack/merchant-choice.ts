import type { ActionsBlock, InputBlock, StaticSelect } from '@slack/types';
import { isJsonObject } from '../domain/json-pointer.ts';
import { plainText } from './blocks.ts';
import type { ViewValues } from './command.ts';
import { limits } from './limits.ts';
import type { Modal, ModalBlock } from './message.ts';

/** An account to choose, and what people call it. */
export type MerchantChoice = { name: string; label: string };

/** The form with the choice of an account above everything else: choosing another opens that one’s form in its place. */
export function withMerchantChoice(
  modal: Modal,
  parts: {
    actionId: string;
    choices: readonly MerchantChoice[];
    chosen: string;
    /** What was typed after the verb, and where: the other account's form is made of it. */
    words: readonly string[];
    place?: string | undefined;
  },
): Modal {
  const options = parts.choices.map(({ name, label }) => ({
    text: plainText(label, limits.optionText),
    value: choiceValue(name, parts),
  }));
  const initial = options[parts.choices.findIndex(({ name }) => name === parts.chosen)];
  const element: StaticSelect = {
    type: 'static_select',
    action_id: parts.actionId,
    placeholder: plainText('Merchant account', limits.placeholder),
    options,
    ...(initial === undefined ? {} : { initial_option: initial }),
  };
  const block: ActionsBlock = { type: 'actions', block_id: 'merchant_choice', elements: [element] };
  return { ...modal, blocks: [block, ...modal.blocks] };
}

type Chosen = { name: string; words: readonly string[]; place?: string };

/** Words that are too long for a choice are dropped: the form asks for them. */
function choiceValue(
  name: string,
  { words, place }: { words: readonly string[]; place?: string | undefined },
): string {
  const at = place === undefined ? [] : [{ at: place }];
  const whole = JSON.stringify([name, ...words, ...at]);
  return whole.length <= limits.optionValue ? whole : JSON.stringify([name, ...at]);
}

/** Undefined for a value that is not ours. */
export function readMerchantChoice(value: string): Chosen | undefined {
  try {
    const read: unknown = JSON.parse(value);
    if (!Array.isArray(read)) return undefined;
    const [name, ...words] = read.filter((one) => typeof one === 'string');
    const at: unknown = read.find(isJsonObject)?.['at'];
    return name === undefined ? undefined : { name, words, ...(typeof at === 'string' ? { place: at } : {}) };
  } catch {
    return undefined;
  }
}

/** The form with what stood in these fields of another account’s; what belongs to the account is not among them. */
export function withValues(modal: Modal, values: ViewValues, kept: readonly string[]): Modal {
  return { ...modal, blocks: modal.blocks.map((block) => filled(block, values, kept)) };
}

function filled(block: ModalBlock, values: ViewValues, kept: readonly string[]): ModalBlock {
  if (block.type !== 'input' || block.block_id === undefined || !kept.includes(block.block_id)) return block;
  const value = values[block.block_id];
  return value === undefined ? block : { ...block, element: elementWith(block.element, value) };
}

function elementWith(element: InputBlock['element'], value: string): InputBlock['element'] {
  if (element.type === 'plain_text_input') {
    return { ...element, initial_value: value.slice(0, element.max_length ?? limits.inputLength) };
  }
  if (element.type !== 'static_select') return element;
  const option = element.options?.find((one) => one.value === value);
  return option === undefined ? element : { ...element, initial_option: option };
}
