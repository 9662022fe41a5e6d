import type { Modal, SlackMessage } from '../../../src/slack/message.ts';

type Node = { [field: string]: unknown };

/** Blocks as a person reads them, a line for each: mentions as @id, times in UTC, quotations after a bar, fields after an underscore. */
export function lines(from: { blocks: readonly unknown[] }): string[] {
  return from.blocks.flatMap((block) => linesOf(block as Node));
}

/** Title, lines and submit button. */
export function page(view: Modal): string[] {
  return [`# ${view.title.text}`, ...lines(view), ...(view.submit ? [`<${view.submit.text}>`] : [])];
}

export function firstLine(message: SlackMessage): string {
  return lines({ blocks: message.blocks.slice(0, 1) }).join('\n');
}

export type ShownButton = { text: string; actionId: string; value: string | undefined; confirm: boolean };

export function buttons(from: { blocks: readonly unknown[] }): ShownButton[] {
  return (from.blocks as Node[])
    .filter((block) => block['type'] === 'actions')
    .flatMap(children)
    .map((button) => ({
      text: textOf(button['text']),
      actionId: String(button['action_id']),
      value: button['value'] as string | undefined,
      confirm: button['confirm'] !== undefined,
    }));
}

export function inputIds(from: { blocks: readonly unknown[] }): string[] {
  return (from.blocks as Node[])
    .filter((block) => block['type'] === 'input')
    .map((block) => String(block['block_id']));
}

function linesOf(block: Node): string[] {
  switch (block['type']) {
    case 'rich_text':
      return children(block).flatMap((part) => {
        const bar = part['type'] === 'rich_text_quote' ? '| ' : '';
        return children(part)
          .map(run)
          .join('')
          .split('\n')
          .map((line) => bar + line);
      });
    case 'context':
      return [
        children(block)
          .map((element) => textOf(element))
          .join(' ~ '),
      ];
    case 'actions':
      return [
        children(block)
          .map((button) => `[${textOf(button['text'])}]`)
          .join(' '),
      ];
    case 'input':
      return [`_ ${textOf(block['label'])}`];
    case 'header':
      return [`## ${textOf(block['text'])}`];
    case 'divider':
      return ['---'];
    default:
      return [JSON.stringify(block)];
  }
}

function run(node: Node): string {
  if (node['type'] === 'user') return `@${String(node['user_id'])}`;
  return String(node['type'] === 'date' ? node['fallback'] : node['text']);
}

function textOf(node: unknown): string {
  return String((node as Node)['text']);
}

function children(node: Node): Node[] {
  return node['elements'] as Node[];
}
