import type { Inline, Passage } from './mrkdwn.ts';

const inlinePattern =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+|mailto:[^\s)]+)\)|\*([^*\n]+)\*|_([^_\n]+)_|~~([^~\n]+)~~/g;

function styled(match: RegExpMatchArray): Inline {
  const [, code, bold, linkText, linkUrl, star, underline, strike] = match;
  if (code !== undefined) return { kind: 'code', text: code };
  if (bold !== undefined) return { kind: 'bold', children: parseMarkdownLine(bold) };
  if (linkText !== undefined && linkUrl !== undefined) return { kind: 'link', url: linkUrl, text: linkText };
  if (strike !== undefined) return { kind: 'strike', children: parseMarkdownLine(strike) };
  return { kind: 'italic', children: parseMarkdownLine(star ?? underline ?? '') };
}

function parseMarkdownLine(line: string): Inline[] {
  const nodes: Inline[] = [];
  let at = 0;
  for (const match of line.matchAll(inlinePattern)) {
    if (match.index > at) nodes.push({ kind: 'text', text: line.slice(at, match.index) });
    nodes.push(styled(match));
    at = match.index + match[0].length;
  }
  if (at < line.length) nodes.push({ kind: 'text', text: line.slice(at) });
  return nodes;
}

function parseMarkdownBlock(line: string): Passage {
  const heading = /^#{1,6} (.*)/.exec(line);
  if (heading) return { kind: 'heading', children: parseMarkdownLine(heading[1] ?? '') };
  const item = /^\s*(?:[-*+]|(\d+)\.) (.*)/.exec(line);
  if (item) {
    return { kind: 'list', ordered: item[1] !== undefined, items: [parseMarkdownLine(item[2] ?? '')] };
  }
  const quote = /^> ?(.*)/.exec(line);
  if (quote) return { kind: 'quote', children: parseMarkdownLine(quote[1] ?? '') };
  return { kind: 'lines', children: parseMarkdownLine(line) };
}

function append(passages: Passage[], next: Passage): void {
  const last = passages.at(-1);
  const startsAnew = last?.kind === 'lines' && last.children.length === 0;
  if (last?.kind === 'list' && next.kind === 'list' && last.ordered === next.ordered) {
    last.items.push(...next.items);
  } else if (
    !startsAnew &&
    last &&
    (last.kind === 'lines' || last.kind === 'quote') &&
    last.kind === next.kind
  ) {
    last.children.push({ kind: 'break' }, ...next.children);
  } else {
    passages.push(next);
  }
}

/** The basic part of Markdown that a `markdown` block of the bot may use; anything else stays text. */
export function parseMarkdown(text: string): Passage[] {
  const passages: Passage[] = [];
  for (const [index, piece] of text.split('```').entries()) {
    if (index % 2 === 1) {
      passages.push({ kind: 'preformatted', text: piece.replace(/^\w*\n/, '') });
      continue;
    }
    for (const line of piece.split('\n')) {
      if (line.trim() === '') passages.push({ kind: 'lines', children: [] });
      else append(passages, parseMarkdownBlock(line));
    }
  }
  return passages.filter((passage) => passage.kind !== 'lines' || passage.children.length > 0);
}
