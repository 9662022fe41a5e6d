import { maskNumbers } from '../domain/card.ts';
import { leavesOf } from '../domain/json.ts';
import { minorFromWire } from '../domain/money.ts';
import { outsideText } from '../domain/outside-text.ts';
import { counted } from '../domain/wording.ts';

/** `shows`: the value or only its type. `is`: the fact that the reader gave and that this field has. */
type MaskedField = { pointer: string; shows: string; is?: string };

/** Facts that the reader gave. */
type Known = { reference?: string; minor?: number | undefined };

/**
 * An answer's fields, for finding the right settings. Shows statuses, lifetimes and decimals, which settings may need,
 * and only the type of any other value.
 */
export function maskedFields(answer: unknown, { reference, minor }: Known = {}): MaskedField[] {
  return leavesOf(answer).map(([at, value]) => {
    const pointer = maskNumbers(outsideText(at, 200));
    const isYours = minor !== undefined && minorFromWire(value) === minor;
    if (reference !== undefined && value === reference)
      return { pointer, shows: kindOf(value), is: 'the reference you gave' };
    if (/\/status$/i.test(at) && typeof value === 'string') return { pointer, shows: outsideText(value, 40) };
    const isDecimal = /^\d{1,12}\.\d{1,2}$/.test(String(value));
    const isLifetime = /expir|ttl|life/i.test(at) && /^\d{1,13}$/.test(String(value));
    const shows = isDecimal || isLifetime ? String(value) : kindOf(value);
    return { pointer, shows, ...(isYours && { is: 'the amount you gave' }) };
  });
}

export function fieldLines(fields: readonly MaskedField[]): string[] {
  return fields.map(({ pointer, shows, is }) => `  ${pointer}: ${shows}${is ? ` (${is})` : ''}`);
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return `text of ${counted(value.length, 'character')}`;
  return typeof value === 'number' ? 'number' : String(value);
}
