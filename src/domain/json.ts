export type JsonObject = Readonly<Record<string, unknown>>;

/** The parsed text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for objects, not for null or arrays. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the text is a JSON pointer: empty, or steps after slashes, with ~0 and ~1 for ~ and /. */
export function isJsonPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(text);
}

/** The value at a JSON pointer (RFC 6901); undefined if there is none, or the pointer is invalid. */
export function valueAt(json: unknown, pointer: string): unknown {
  return walk(json, pointer, (at) => at);
}

/** Like `valueAt`, but where an object is expected, an array with one element stands for that element. */
export function valueAtLoosely(json: unknown, pointer: string): unknown {
  return onlyElement(walk(json, pointer, onlyElement));
}

/** The value of the first pointer that finds one; null counts as none. */
export function valueAtFirst(json: unknown, pointers: readonly string[]): unknown {
  return pointers
    .map((pointer) => valueAt(json, pointer))
    .find((value) => value !== undefined && value !== null);
}

/** Every value that is no object or array, with its JSON pointer. */
export function leavesOf(json: unknown, at = ''): [pointer: string, value: unknown][] {
  if (typeof json !== 'object' || json === null) return [[at, json]];
  return Object.entries(json).flatMap(([name, value]) =>
    leavesOf(value, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

/** Every text in the values; names are not searched. */
export function textsIn(json: unknown): string[] {
  return leavesOf(json).flatMap(([, value]) => (typeof value === 'string' ? [value] : []));
}

/**
 * Only the leaves whose names are plain. The pointers are written into settings and printed on a terminal, so outside
 * text must not have special characters there.
 */
export function plainLeavesOf(json: unknown): [pointer: string, value: unknown][] {
  return leavesOf(json).filter(([pointer]) => /^(?:\/[\w.~-]{1,64})+$/.test(pointer));
}

/** Follows the pointer. `unwrapped` is applied to each value before the next step. */
function walk(json: unknown, pointer: string, unwrapped: (at: unknown, token: string) => unknown): unknown {
  const tokens = tokensOf(pointer);
  if (!tokens) return undefined;
  let at = json;
  for (const token of tokens) at = step(unwrapped(at, token), token);
  return at;
}

/** A cache without a limit: pointers come from settings and code, so there are few. */
const knownTokens = new Map<string, readonly string[] | undefined>();

function tokensOf(pointer: string): readonly string[] | undefined {
  if (knownTokens.has(pointer)) return knownTokens.get(pointer);
  const escaped = isJsonPointer(pointer) ? pointer.split('/').slice(1) : undefined;
  const tokens = escaped?.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  knownTokens.set(pointer, tokens);
  return tokens;
}

const arrayIndex = /^(?:0|[1-9]\d*)$/;

function step(at: unknown, token: string): unknown {
  if (Array.isArray(at)) return arrayIndex.test(token) ? (at[Number(token)] as unknown) : undefined;
  return isJsonObject(at) && Object.hasOwn(at, token) ? at[token] : undefined;
}

function onlyElement(at: unknown, token = ''): unknown {
  return Array.isArray(at) && at.length === 1 && !arrayIndex.test(token) ? at[0] : at;
}

type MayBeUndefined<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T];

/** The type without undefined: members that may be undefined become optional. */
type WithoutUndefined<T> = Omit<T, MayBeUndefined<T>> & {
  [Key in MayBeUndefined<T>]?: Exclude<T[Key], undefined>;
};

/** Drops undefined members, so that an absent member has only one form. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  const present: Partial<T> = {};
  for (const name of Object.keys(value) as (keyof T)[])
    if (value[name] !== undefined) present[name] = value[name];
  return present as WithoutUndefined<T>;
}
