import { hash, randomBytes } from 'node:crypto';
import type { Modal } from './message.ts';

/*
 * Block ids for the inputs of a modal that replaces another. While an input's ids stay the same, Slack keeps its typed
 * text, ignores its new initial value, and sometimes sends the old modal's state with the new one's submission. New ids
 * prevent all three. The rest of the bot knows only a field's name.
 */

const separator = '~';
const renewed = new WeakMap<Modal, Modal>();

/**
 * The same modal with new block ids for its inputs; the same result each time for one modal object. A form without initial
 * values keeps its ids as long as its fields are the same: a code being typed survives an update of the rest.
 */
export function withNewIds(modal: Modal): Modal {
  const known = renewed.get(modal);
  if (known) return known;
  const inputs = modal.blocks.filter(({ type }) => type === 'input');
  const source = JSON.stringify([modal.callback_id, modal.private_metadata, inputs]);
  const suffix = source.includes('"initial_')
    ? randomBytes(4).toString('hex')
    : hash('sha256', source).slice(0, 8);
  const blocks = modal.blocks.map((block) =>
    block.type === 'input' ? { ...block, block_id: `${block.block_id}${separator}${suffix}` } : block,
  );
  const result = { ...modal, blocks };
  renewed.set(modal, result);
  return result;
}

/** A field's name from its block id, in a new or an updated modal. */
export function fieldName(blockId: string): string {
  return blockId.split(separator)[0] ?? blockId;
}

/** Whether the input's modal replaced another modal. */
export function hasNewId(blockId: string): boolean {
  return blockId.includes(separator);
}
