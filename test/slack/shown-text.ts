import type { SlackMessage } from '../../src/slack/kit/message.ts';

type Node = { [field: string]: unknown };

/** A message as a person reads it: one string a line on screen, buttons in brackets, quotations after a bar. */
export function shownLines(message: SlackMessage): string[] {
  return message.blocks.flatMap((block) => linesOf(block as unknown as Node));
}

/** The first block's text, which `text` must repeat. */
export function firstLine(message: SlackMessage): string {
  return shownLines({ ...message, blocks: message.blocks.slice(0, 1) }).join('\n');
}

/** A message's `text` as a notification shows it. */
export function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function linesOf(block: Node): string[] {
  switch (block['type']) {
    case 'rich_text':
      return children(block).flatMap((part) => {
        const text = children(part)
          .map((run) => run['text'] ?? run['fallback'])
          .join('');
        const bar = part['type'] === 'rich_text_quote' ? '| ' : '';
        return text.split('\n').map((line) => bar + line);
      });
    case 'context':
      return [
        children(block)
          .map((element) => element['text'])
          .join(' ~ '),
      ];
    case 'actions':
      return [
        children(block)
          .map((button) => `[${String((button['text'] as Node | undefined)?.['text'])}]`)
          .join(' '),
      ];
    default:
      return [JSON.stringify(block)];
  }
}

function children(node: Node): Node[] {
  return node['elements'] as Node[];
}
