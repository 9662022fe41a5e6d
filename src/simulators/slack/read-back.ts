import type { PageBlock } from '../protocol.ts';

/**
 * A message as Slack gives it back: emoji written as characters become names between colons in text, and elements of
 * their own in rich text.
 */
export function readBack({ text, blocks }: { text: string; blocks: readonly PageBlock[] }): {
  text: string;
  blocks: PageBlock[];
} {
  return { text: named(text), blocks: blocks.map((block) => inBlock(block) as PageBlock) };
}

const emoji = /\p{Extended_Pictographic}(?:\uFE0F|\u200D\p{Extended_Pictographic})*/gu;

/** Slack's names for the emoji that the bot writes most. */
const names: Readonly<Record<string, string>> = {
  '✅': 'white_check_mark',
  '❌': 'x',
  '👀': 'eyes',
  '💤': 'zzz',
  '☑️': 'ballot_box_with_check',
  '💳': 'credit_card',
  '🔎': 'mag_right',
  '⏰': 'alarm_clock',
  '⏳': 'hourglass_flowing_sand',
  '⌛': 'hourglass',
  '⚠️': 'warning',
  '🔗': 'link',
  '📄': 'page_facing_up',
};

function nameOf(character: string): string {
  return names[character] ?? 'other_emoji';
}

function named(text: string): string {
  return text.replace(emoji, (character) => `:${nameOf(character)}:`);
}

/** Fields that hold the app's own values: unchanged. */
const kept = new Set(['value', 'action_id', 'block_id', 'url']);

function inBlock(part: unknown): unknown {
  if (Array.isArray(part)) return part.flatMap((one: unknown) => inElement(one));
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, inner]: [string, unknown]) => [
      name,
      typeof inner === 'string' && name === 'text' ? named(inner) : kept.has(name) ? inner : inBlock(inner),
    ]),
  );
}

/** Splits a text of a rich text at each emoji. */
function inElement(one: unknown): unknown {
  if (typeof one !== 'object' || one === null || !('type' in one) || one.type !== 'text') return inBlock(one);
  const text = 'text' in one ? String(one.text) : '';
  const pieces = text.split(new RegExp(`(${emoji.source})`, 'u'));
  return pieces.flatMap((piece, index): object[] => {
    if (index % 2 === 1) return [{ type: 'emoji', name: nameOf(piece) }];
    return piece === '' && pieces.length > 1 ? [] : [{ ...one, text: piece }];
  });
}
