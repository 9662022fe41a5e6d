import { emojiCharacter } from './emoji.ts';

/** A piece of a line. Text is already unescaped and is only ever drawn as text. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'bold' | 'italic' | 'strike'; children: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'link'; url: string; text: string }
  | { kind: 'user' | 'channel' | 'usergroup'; id: string; label?: string }
  | { kind: 'broadcast'; range: string }
  | { kind: 'date'; seconds: number; format: string; fallback: string; url?: string }
  | { kind: 'emoji'; character: string; name: string }
  | { kind: 'break' };

export type Passage =
  | { kind: 'lines'; children: Inline[] }
  | { kind: 'quote'; children: Inline[] }
  | { kind: 'preformatted'; text: string };

/** Slack's three escapes, and no others. */
function unescapeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Slack's mrkdwn as passages. Never fails: what it cannot read stays the text it is. */
export function parseMrkdwn(text: string): Passage[] {
  const passages: Passage[] = [];
  for (const [index, piece] of text.split('```').entries()) {
    if (index % 2 === 1)
      passages.push({ kind: 'preformatted', text: unescapeText(piece.replace(/^\n/, '')) });
    else passages.push(...parseLines(piece));
  }
  return passages;
}

function parseLines(text: string): Passage[] {
  const passages: Passage[] = [];
  for (const line of text.split('\n')) {
    const quoted = /^(?:&gt;|>) ?/.exec(line);
    const kind = quoted ? 'quote' : 'lines';
    const children = parseInline(quoted ? line.slice(quoted[0].length) : line);
    const last = passages.at(-1);
    if (last && last.kind === kind) last.children.push({ kind: 'break' }, ...children);
    else passages.push({ kind, children });
  }
  return passages.filter((passage) => passage.kind !== 'lines' || passage.children.length > 0);
}

const styles = { '*': 'bold', _: 'italic', '~': 'strike' } as const;

type Found = { node: Inline; end: number };

/** One line of mrkdwn. */
export function parseInline(text: string): Inline[] {
  const nodes: Inline[] = [];
  let plain = '';
  let at = 0;
  while (at < text.length) {
    const found = readAt(text, at);
    if (found) {
      if (plain !== '') nodes.push({ kind: 'text', text: unescapeText(plain) });
      plain = '';
      nodes.push(found.node);
      at = found.end;
    } else {
      plain += text.charAt(at);
      at += 1;
    }
  }
  if (plain !== '') nodes.push({ kind: 'text', text: unescapeText(plain) });
  return nodes;
}

function readAt(text: string, at: number): Found | undefined {
  switch (text.charAt(at)) {
    case '`':
      return readCode(text, at);
    case '<':
      return readToken(text, at);
    case ':':
      return readEmoji(text, at);
    case '*':
    case '_':
    case '~':
      return readStyled(text, at);
    default:
      return undefined;
  }
}

function readCode(text: string, at: number): Found | undefined {
  const close = text.indexOf('`', at + 1);
  if (close <= at + 1) return undefined;
  return { node: { kind: 'code', text: unescapeText(text.slice(at + 1, close)) }, end: close + 1 };
}

function readEmoji(text: string, at: number): Found | undefined {
  const name = /^:([a-z0-9_+-]+):/.exec(text.slice(at, at + 40))?.[1];
  const character = name === undefined ? undefined : emojiCharacter(name);
  if (name === undefined || character === undefined) return undefined;
  return { node: { kind: 'emoji', character, name }, end: at + name.length + 2 };
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

function readStyled(text: string, at: number): Found | undefined {
  const mark = text.charAt(at) as keyof typeof styles;
  const opens =
    !isWord(text.charAt(at - 1)) && /\S/.test(text.charAt(at + 1)) && text.charAt(at + 1) !== mark;
  if (!opens) return undefined;
  for (let close = text.indexOf(mark, at + 2); close !== -1; close = text.indexOf(mark, close + 1)) {
    const closes = /\S/.test(text.charAt(close - 1)) && !isWord(text.charAt(close + 1));
    if (closes) {
      return {
        node: { kind: styles[mark], children: parseInline(text.slice(at + 1, close)) },
        end: close + 1,
      };
    }
  }
  return undefined;
}

function readToken(text: string, at: number): Found | undefined {
  const close = text.indexOf('>', at);
  if (close === -1) return undefined;
  const inner = text.slice(at + 1, close);
  const bar = inner.indexOf('|');
  const target = bar === -1 ? inner : inner.slice(0, bar);
  const label = bar === -1 ? undefined : unescapeText(inner.slice(bar + 1));
  const node = readTarget(unescapeText(target), label);
  return node && { node, end: close + 1 };
}

function readTarget(target: string, label: string | undefined): Inline | undefined {
  const mention = /^([@#])([A-Z0-9]+)$/.exec(target);
  if (mention?.[2] !== undefined) {
    return {
      kind: mention[1] === '@' ? 'user' : 'channel',
      id: mention[2],
      ...(label === undefined ? {} : { label }),
    };
  }
  if (target.startsWith('!date^')) return readDate(target, label);
  if (target.startsWith('!subteam^')) {
    return { kind: 'usergroup', id: target.slice(9), ...(label === undefined ? {} : { label }) };
  }
  if (/^!(here|channel|everyone)$/.test(target)) return { kind: 'broadcast', range: target.slice(1) };
  if (/^(https?:|mailto:)/i.test(target)) return { kind: 'link', url: target, text: label ?? target };
  return undefined;
}

function readDate(target: string, label: string | undefined): Inline {
  const [, seconds = '', format = '', url] = target.split('^');
  return {
    kind: 'date',
    seconds: Number(seconds),
    format,
    fallback: label ?? format,
    ...(url === undefined ? {} : { url }),
  };
}

/** The address when a link may lead there: the web and mail, never script, data or files. */
export function safeUrl(url: string): string | undefined {
  return /^(https?:\/\/|mailto:)/i.test(url.trim()) ? url.trim() : undefined;
}
