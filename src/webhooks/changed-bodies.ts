import { isJsonObject } from '../domain/json-pointer.ts';

/** Bytes that may have been signed in place of those that came, and what must then have happened to them. */
export type ChangedBody = { how: string; body: Buffer };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const byteOrderMark = '\uFEFF';

/**
 * What the body may have been when it was signed: the usual harm that proxies, frameworks and captures do to
 * it, undone. Each is different from the body itself. Never throws.
 */
export function changedBodies(body: Buffer): ChangedBody[] {
  const text = decoded(body);
  const changed = text === undefined ? [] : changedTexts(text).map(([how, next]) => bytesOf(how, next));
  const misread = [
    { how: 're-encoded from Latin-1 to UTF-8', body: Buffer.from(body.toString('utf8'), 'latin1') },
    { how: 're-encoded from UTF-8 to Latin-1', body: Buffer.from(body.toString('latin1'), 'utf8') },
  ];
  const seen = new Set([body.toString('latin1')]);
  return [...changed, ...misread].filter((one) => {
    const key = one.body.toString('latin1');
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

function bytesOf(how: string, text: string): ChangedBody {
  return { how, body: Buffer.from(text) };
}

function decoded(body: Buffer): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/** `how` says what was done to the signed text, so that it became the one that came. */
function changedTexts(text: string): [how: string, signed: string][] {
  const trimmed = text.trim();
  const unix = text.replaceAll('\r\n', '\n');
  return [
    ['given a line feed at its end', text.replace(/\n$/, '')],
    ['given a line end (CR LF) at its end', text.replace(/\r\n$/, '')],
    ['robbed of the line feed at its end', `${text}\n`],
    ['robbed of the line end (CR LF) at its end', `${text}\r\n`],
    ['given CR LF in place of line feeds', unix],
    ['given line feeds in place of CR LF', unix.replaceAll('\n', '\r\n')],
    ['given a byte order mark', text.replace(byteOrderMark, '')],
    ['robbed of its byte order mark', `${byteOrderMark}${text}`],
    ['given blanks or line ends around it', trimmed],
    ...rewritten(trimmed),
  ];
}

function rewritten(text: string): [how: string, signed: string][] {
  const value = parsedJson(text);
  if (value === undefined) return [];
  const compact = layOut(text, '', ':');
  const pretty = [2, 4].map((width) => layOut(text, ' '.repeat(width), ': '));
  return [
    ['pretty-printed, or otherwise written with blanks', compact],
    ['robbed of the blanks after commas and colons', layOut(text, undefined, ': ')],
    ...pretty.flatMap((signed): [string, string][] => [
      ['robbed of its line breaks and indents', signed],
      ['robbed of its line breaks and indents, with a line feed at the end', `${signed}\n`],
    ]),
    ['robbed of its line breaks and tabs', layOut(text, '\t', ': ')],
    ['robbed of its \\u escapes', escaped(compact)],
    ['robbed of its \\u escapes and its blanks', escaped(layOut(text, undefined, ': '))],
    ['robbed of its \\/ escapes', compact.replaceAll('/', '\\/')],
    ['robbed of its \\/ and \\u escapes', escaped(compact).replaceAll('/', '\\/')],
    ['parsed and written anew, with escapes or numbers written otherwise', rewriteOf(value)],
    ['parsed and written anew, with its keys in another order', rewriteOf(sorted(value))],
  ];
}

function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) || Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function rewriteOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested deeper than it can be written.
    return '';
  }
}

function sorted(value: unknown, depth = 0): unknown {
  if (depth > 100) return value;
  if (Array.isArray(value)) return value.map((item) => sorted(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item, depth + 1)]));
}

/** Escapes what is not ASCII, as senders in Python and PHP do. */
function escaped(text: string): string {
  return text.replaceAll(
    /[\u0080-\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const deepest = 40;

type Layout = { indent: string | undefined; colon: string };

/**
 * JSON with other blanks and everything else as it was written. `indent`: empty for none at all, undefined for
 * one blank after each comma; `colon` is what stands between key and value.
 */
function layOut(text: string, indent: string | undefined, colon: string): string {
  const tokens = text.match(token) ?? [];
  let depth = 0;
  const pieces = tokens.map((piece, index) => {
    if (opening.has(piece)) depth += 1;
    else if (closing.has(piece)) depth -= 1;
    return piecesOf([tokens[index - 1], piece, tokens[index + 1]], depth, { indent, colon });
  });
  return pieces.join('');
}

const opening = new Set<string | undefined>(['{', '[']);
const closing = new Set<string | undefined>(['}', ']']);

function piecesOf(
  [before, piece, after]: [string | undefined, string, string | undefined],
  depth: number,
  { indent, colon }: Layout,
): string {
  const lineBreak =
    indent === undefined || indent === '' ? '' : `\n${indent.repeat(Math.max(0, Math.min(depth, deepest)))}`;
  if (piece === ':') return colon;
  if (piece === ',') return indent === undefined ? ', ' : `,${lineBreak}`;
  if (opening.has(piece)) return closing.has(after) ? piece : `${piece}${lineBreak}`;
  if (closing.has(piece)) return opening.has(before) ? piece : `${lineBreak}${piece}`;
  return piece;
}
