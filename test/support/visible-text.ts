/** By blocks, since stories read their whole screen at each check; an edit brings new blocks. */
const known = new WeakMap<readonly unknown[], string>();

/** All text of the blocks in screen order: one line per block, people as `<@id>`. */
export function visibleText(blocks: readonly unknown[]): string {
  const text =
    known.get(blocks) ??
    blocks.map((block) => textsIn(block).join(' ').replaceAll(/ +/g, ' ').trim()).join('\n');
  known.set(blocks, text);
  return text;
}

function textsIn(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(textsIn);
  if (typeof part !== 'object' || part === null) return [];
  if ('user_id' in part) return [`<@${String(part.user_id)}>`];
  const own = 'text' in part && typeof part.text === 'string' ? [part.text] : [];
  return [...own, ...Object.values(part).flatMap(textsIn)];
}
