export type JsonObject = Readonly<Record<string, unknown>>;

/** Undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An object, and neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** What the first pointer of the list under which there is something leads to; null counts as nothing. */
export function valueAtFirst(json: unknown, pointers: readonly string[]): unknown {
  return pointers
    .map((pointer) => valueAt(json, pointer))
    .find((value) => value !== undefined && value !== null);
}

/** Every value that is no object and no array, with its JSON pointer. */
export function leavesOf(json: unknown, at = ''): [pointer: string, value: unknown][] {
  if (typeof json !== 'object' || json === null) return [[at, json]];
  return Object.entries(json).flatMap(([name, value]) =>
    leavesOf(value, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

/**
 * Of those only what stands under plain names, which a setting can point at and a terminal can show: outside text must
 * neither steer the one nor break the other.
 */
export function plainLeavesOf(json: unknown): [pointer: string, value: unknown][] {
  return leavesOf(json).filter(([pointer]) => /^(?:\/[\w.~-]{1,64})+$/.test(pointer));
}

function walk(json: unknown, pointer: string, before: (at: unknown, token: string) => unknown): unknown {
  const tokens = tokensOf(pointer);
  if (!tokens) return undefined;
  let at = json;
  for (const token of tokens) at = step(before(at, token), token);
  return at;
}

/** Pointers are settings' and our own: few, and the same for every delivery. */
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

/** What surely stands there stays required; what may be undefined may be absent instead. */
type WithoutUndefined<T> = Omit<T, MayBeUndefined<T>> & {
  [Key in MayBeUndefined<T>]?: Exclude<T[Key], undefined>;
};

/** Drops the members that are undefined, so that "absent" is written in one way only. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  // A loop: every event passes here several times, and the list of its entries would cost more than reading it.
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) present[name] = member;
  }
  return present as WithoutUndefined<T>;
}
