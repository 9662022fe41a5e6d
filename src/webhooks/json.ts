import { isJsonObject } from '../domain/json.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';

export type JsonReading = { value: unknown; hasDuplicateKeys: () => boolean };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** In valid JSON a string is a key exactly when a colon follows it. */
const textWithKeyMark = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/**
 * A number that JavaScript may write otherwise than it was written: with a fraction or an exponent, of sixteen
 * digits or more, or below nothing. In valid JSON it stands between these; what looks so inside a string only costs
 * the time of a closer look.
 */
const doubtfulNumber = /[:[,]\s*(?:-|\d+[.eE]|\d{16})[\d.eE+-]*\s*[,}\]]/;

/**
 * The document, with every number as the text it was written as: an id of twenty digits and an amount of
 * "5000.00" stay exact, and what a signature is checked over is what is read later. Not JSON, not UTF-8
 * and nested too deep are problems; it never throws.
 */
export function readJson(body: Buffer): Parsed<JsonReading> {
  try {
    const text = utf8.decode(body);
    // A third of what reading a delivery cost: whole numbers are written as they are read.
    const parsedPlainly: unknown = doubtfulNumber.test(text)
      ? JSON.parse(text, keepAsWritten)
      : JSON.parse(text);
    // A number that is all there is stands between nothing.
    const value = typeof parsedPlainly === 'number' ? text.trim() : parsedPlainly;
    const holder = { value };
    const keptKeys = textsForNumbers(holder) - 1;
    return parsed({ value: holder.value, hasDuplicateKeys: () => countKeys(text) !== keptKeys });
  } catch {
    return problem('the body is not JSON in UTF-8');
  }
}

function keepAsWritten(_key: string, item: unknown, context?: { source?: string }): unknown {
  return typeof item === 'number' ? (context?.source ?? String(item)) : item;
}

/** Puts texts in the place of the numbers under it; gives how many keys its objects have. */
function textsForNumbers(parent: object): number {
  const members = parent as Record<string, unknown>;
  const names = Object.keys(members);
  let keys = isJsonObject(parent) ? names.length : 0;
  for (const name of names) {
    const member = members[name];
    if (typeof member === 'number') members[name] = String(member);
    else if (typeof member === 'object' && member !== null) keys += textsForNumbers(member);
  }
  return keys;
}

function countKeys(text: string): number {
  let keys = 0;
  for (const match of text.matchAll(textWithKeyMark)) if (match[1] !== undefined) keys += 1;
  return keys;
}
