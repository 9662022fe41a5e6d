import type { PageBlock, PageOption } from '../../src/simulators/protocol.ts';

export type Element = {
  type: string;
  action_id?: string;
  text?: { text: string };
  options?: PageOption[];
  [field: string]: unknown;
};
/** For an option, `element` has it chosen. */
export type Placed = { blockId: string; actionId: string; element: Element; label: string };

/** All that people can press or choose in these blocks without a submit, by label. */
export function pressable(blocks: readonly PageBlock[]): Placed[] {
  return blocks.flatMap((block) => (block.type === 'input' ? [] : placedIn(block)));
}

function placedIn(block: PageBlock): Placed[] {
  return ((block['elements'] ?? []) as Element[]).flatMap((element) => {
    const { type, options = [], text } = element;
    const placed = { blockId: block.block_id ?? '', actionId: element.action_id ?? '' };
    if (type === 'button') return [{ ...placed, element, label: text?.text ?? '' }];
    return options.map((option) => ({
      ...placed,
      element: { ...element, selected_option: option },
      label: option.text.text,
    }));
  });
}
