import { isJsonObject } from '../domain/json-pointer.ts';
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
      if (isJsonObject(item)) keptKeys += Object.keys(item).length;
      return item;
    });
    let writtenKeys = 0;
    for (const match of text.matchAll(textWithKeyMark)) if (match[1] !== undefined) writtenKeys += 1;
    return parsed({ value, hasDuplicateKeys: writtenKeys !== keptKeys });
  } catch {
    return problem('the body is not JSON in UTF-8');
  }
}
