import { isJsonObject } from '../domain/json.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';

export type JsonReading = { value: unknown; hasDuplicateKeys: () => boolean };

const utf8 = new TextDecoder('utf-8', { fatal: true });
const looseUtf8 = new TextDecoder('utf-8');

/** In valid JSON a string before a colon is a key. */
const textWithKeyMark = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/**
 * Matches a number that JavaScript may print differently: a fraction, an exponent, a negative, or sixteen digits and
 * more, between the characters that surround a number in JSON. A match inside a string is harmless: it only costs time.
 */
const doubtfulNumber = /[:[,]\s*(?:-|\d+[.eE]|\d{16})[\d.eE+-]*\s*[,}\]]/;

/**
 * Parses JSON with each number as its original text: ids of twenty digits and 5000.00 stay exact, and the text that is
 * checked against the signature is the text read later. Invalid JSON or UTF-8, and too deep nesting, are problems;
 * `loose` reads broken characters as U+FFFD. Never throws.
 */
export function readJson(body: Buffer, how: 'strict' | 'loose' = 'strict'): Parsed<JsonReading> {
  try {
    const text = (how === 'loose' ? looseUtf8 : utf8).decode(body);
    // Without doubtful numbers the plain parser will do, and saves a third of the time.
    const parsedPlainly: unknown = doubtfulNumber.test(text)
      ? JSON.parse(text, keepAsWritten)
      : JSON.parse(text);
    // A document that is a single number: `doubtfulNumber` needs characters around it.
    const value = typeof parsedPlainly === 'number' ? text.trim() : parsedPlainly;
    const holder = { value };
    // Without the holder's own key.
    const keptKeys = textsForNumbers(holder) - 1;
    return parsed({ value: holder.value, hasDuplicateKeys: () => countKeys(text) !== keptKeys });
  } catch {
    return problem('the body is not JSON in UTF-8');
  }
}

function keepAsWritten(_key: string, item: unknown, context?: { source?: string }): unknown {
  return typeof item === 'number' ? (context?.source ?? String(item)) : item;
}

/** Replaces all numbers inside `parent` by texts; returns how many keys its objects have. */
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
