import { parsed, problem, type Parsed } from '../domain/parsed.ts';

export type JsonReading = { value: unknown; hasDuplicateKeys: boolean };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** In valid JSON a string is a key exactly when a colon follows it. */
const textWithKeyMark = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/**
 * The document, with every number as the text it was written as: an id of twenty digits and an amount of
 * "5000.00" stay exact, and what a signature is checked over is what is read later. Not JSON, not UTF-8
 * and nested too deep are problems; it never throws.
 */
export function readJson(body: Buffer): Parsed<JsonReading> {
  try {
    const text = utf8.decode(body);
    let keptKeys = 0;
    const value: unknown = JSON.parse(text, (_key, item: unknown, context?: { source?: string }) => {
      if (typeof item === 'number') return context?.source ?? String(item);
      if (isRecord(item)) keptKeys += Object.keys(item).length;
      return item;
    });
    let writtenKeys = 0;
    for (const match of text.matchAll(textWithKeyMark)) if (match[1] !== undefined) writtenKeys += 1;
    return parsed({ value, hasDuplicateKeys: writtenKeys !== keptKeys });
  } catch {
    return problem('the body is not JSON in UTF-8');
  }
}

/** Whether the text is a JSON pointer: empty, or each step led by a slash, with ~0 and ~1 for ~ and /. */
export function isJsonPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(text);
}

/** What stands at a JSON pointer (RFC 6901); undefined when nothing does, or when it is no pointer. */
export function valueAt(json: unknown, pointer: string): unknown {
  return walk(json, pointer, (at) => at);
}

/** As `valueAt`, and an array of one stands for its element wherever the pointer expects an object. */
export function valueAtLoosely(json: unknown, pointer: string): unknown {
  return onlyElement(walk(json, pointer, onlyElement));
}

function walk(json: unknown, pointer: string, before: (at: unknown, token: string) => unknown): unknown {
  if (!isJsonPointer(pointer)) return undefined;
  let at = json;
  for (const escaped of pointer.split('/').slice(1)) {
    const token = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    at = step(before(at, token), token);
  }
  return at;
}

const arrayIndex = /^(?:0|[1-9]\d*)$/;

function step(at: unknown, token: string): unknown {
  if (Array.isArray(at)) return arrayIndex.test(token) ? (at[Number(token)] as unknown) : undefined;
  return isRecord(at) && Object.hasOwn(at, token) ? at[token] : undefined;
}

function onlyElement(at: unknown, token = ''): unknown {
  return Array.isArray(at) && at.length === 1 && !arrayIndex.test(token) ? at[0] : at;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
