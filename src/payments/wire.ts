import { z } from 'zod';
import { isJsonObject, type JsonObject, withoutUndefined } from '../domain/json.ts';
import { saysNothing } from '../domain/outside-text.ts';

// Loose readers for the service's answers. They never fail: unreadable values become undefined. Be strict where an
// answer is judged, not here.

/** Text, also from a number or a boolean; empty text and "N/A" count as absent. */
export const looseText = z.unknown().transform((value) => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && !saysNothing(value) ? value : undefined;
});

/** The fields that have text. */
export function textsOf<Name extends string>(
  record: unknown,
  names: readonly Name[],
): { [Field in Name]?: string } {
  const read = names.map((name) => [name, looseText.parse(asObject(record)?.[name])]);
  return withoutUndefined(Object.fromEntries(read) as { [Field in Name]?: string });
}

/** The object itself; undefined for anything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The objects of a list, or a single object. */
export function asObjects(value: unknown): JsonObject[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.filter(isJsonObject);
}

/** Shorter values are not secrets; striking them out would spoil the words. */
const shortestSecret = 4;

/** The service's words with these secrets, and any bearer token, struck out. */
export function withoutSecrets(text: string | undefined, secrets: readonly string[]): string | undefined {
  return secrets
    .filter((secret) => secret.length >= shortestSecret)
    .reduce((clean, secret) => clean?.replaceAll(secret, '[secret]'), text)
    ?.replaceAll(/Bearer\s+\S+/gi, 'Bearer [secret]');
}
