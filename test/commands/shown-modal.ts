import type { Pressed, ViewAnswer } from '../../src/slack/command.ts';
import type { Modal } from '../../src/slack/message.ts';

export function modalOf(answer: ViewAnswer): Modal {
  if (answer.kind !== 'update') throw new Error(`an update was expected: ${JSON.stringify(answer)}`);
  return answer.modal;
}

export async function carriedOn(answer: ViewAnswer): Promise<void> {
  if (answer.kind === 'errors') throw new Error('nothing to carry on with');
  await answer.carryOn?.();
}

export function view(modal: Modal, id = 'V1'): NonNullable<Pressed['view']> {
  return { id, privateMetadata: modal.private_metadata ?? '', values: {} };
}

type Input = { initial_value?: string; initial_option?: { value: string; text: { text: string } } };

/** The inputs of a modal, by block id. */
export function inputs(modal: Modal): Record<string, Input> {
  return Object.fromEntries(
    modal.blocks.flatMap((block) =>
      block.type === 'input' ? [[block.block_id ?? '', block.element as unknown as Input]] : [],
    ),
  );
}

/** What a form starts with, as Slack would submit it untouched. */
export function untouched(modal: Modal): Record<string, string> {
  const filled = Object.entries(inputs(modal)).map(
    ([id, { initial_value, initial_option }]) => [id, initial_value ?? initial_option?.value ?? ''] as const,
  );
  return Object.fromEntries(filled.filter(([, value]) => value !== ''));
}

export function textOf(shown: unknown): string {
  return JSON.stringify(shown);
}
