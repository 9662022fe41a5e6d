import { z } from 'zod';
import { minorFromWire } from '../domain/money.ts';

/**
 * Loose readers for what the payments service sends: none of them ever fails, each gives undefined for
 * what it cannot make sense of. Strictness belongs to the judgement, not to the reading.
 */

/** Text, also from a number or a boolean; empty text counts as absent. */
export const looseText = z.unknown().transform((value) => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
});

/** true and "true", false and "false", whatever the case. */
export const looseBoolean = z.unknown().transform((value) => {
  const word = String(value).toLowerCase();
  if (word === 'true') return true;
  return word === 'false' ? false : undefined;
});

/** Minor units of a decimal told as text or number. */
export const looseMinor = z.unknown().transform(minorFromWire);

export type WireObject = Readonly<Record<string, unknown>>;

/** The object itself; undefined for anything else. */
export function asObject(value: unknown): WireObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as WireObject)
    : undefined;
}

/** The objects of a list, or of a single object where a list could come. */
export function asObjects(value: unknown): WireObject[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.map(asObject).filter((item) => item !== undefined);
}

/** The first pointer (RFC 6901) of the list under which there is something; null counts as nothing. */
export function atFirstPointer(document: unknown, pointers: readonly string[]): unknown {
  for (const pointer of pointers) {
    const found = atPointer(document, pointer);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

function atPointer(document: unknown, pointer: string): unknown {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let here: unknown = document;
  for (const step of steps) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as WireObject)[step];
  }
  return here;
}

/** Drops the members that are undefined, so that "absent" is written in one way only. */
export function withoutUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
