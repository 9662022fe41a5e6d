import { z } from 'zod';
import { errorCode } from '../domain/failure.ts';
import { parseRedisAddress, redisAddressForms } from '../store/redis-address.ts';
import { isJsonObject, isJsonPointer, type JsonObject, parseJson, textsIn } from '../domain/json.ts';
import { listed } from '../domain/wording.ts';

/**
 * Readers of one environment variable. Each returns a typed value or a message that follows the setting's name: "PORT
 * must be a whole number from 1 to 65535". No message repeats the text: it may be a secret.
 */

/** A reader that continues with `make`, and fails with `words` if `make` returns undefined. */
export function transformed<From, T>(
  from: z.ZodType<From, string>,
  words: string,
  make: (value: From) => T | undefined,
): z.ZodType<T, string> {
  return from.transform((value, context): T => {
    const found = make(value);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: words });
    return z.NEVER;
  });
}

export function text(pattern?: RegExp, expected?: string): z.ZodType<string, string> {
  const plain = z.string();
  return pattern ? plain.regex(pattern, `must be ${expected}`) : plain;
}

export function wholeNumber(min: number, max: number): z.ZodType<number, string> {
  const words = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,12}$/, words)
    .transform(Number)
    .pipe(z.number().min(min, words).max(max, words));
}

export function oneOf<const T extends string>(values: readonly [T, ...T[]]): z.ZodType<T, string> {
  return z.string().pipe(z.enum(values, `must be ${values.join(' or ')}`));
}

export function uuid(): z.ZodType<string, string> {
  return z.string().pipe(z.guid('must be a UUID of 36 characters'));
}

/** An absolute http(s) URL, without a slash at its end: paths are appended. */
export function httpUrl(): z.ZodType<string, string> {
  return z
    .string()
    .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
      error: 'must be an absolute URL that starts with https:// or http://',
    })
    .transform((value) => value.replace(/\/+$/, ''));
}

/** An absolute http(s) URL, unchanged: no path is appended. */
export function exactUrl(): z.ZodType<string, string> {
  return z.string().refine((value) => httpUrl().safeParse(value).success && new URL(value).username === '', {
    error: 'must be an absolute URL that starts with https:// or http://, without a user name',
  });
}

export function redisUrl(): z.ZodType<string, string> {
  return z
    .string()
    .refine((value) => parseRedisAddress(value) !== undefined, { error: `must be ${redisAddressForms}` });
}

/** Comma-separated; blanks around items are dropped. */
export function list(): z.ZodType<string[], string> {
  return z.string().transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}

export function pointer(): z.ZodType<string, string> {
  return z.string().refine((value) => value !== '' && isJsonPointer(value), {
    error: 'must be a JSON pointer, which starts with a slash, like /data/amount',
  });
}

export function statusList(): z.ZodType<string[], string> {
  return list().refine((statuses) => statuses.length > 0, { error: 'must name at least one status' });
}

export function pointerList(): z.ZodType<string[], string> {
  return list().refine((pointers) => pointers.every((pointer) => pointer.startsWith('/')), {
    error: 'must be JSON pointers separated by commas, each starting with a slash, like /data/accessToken',
  });
}

/** At least one currency, each once. */
export function currencyList(): z.ZodType<string[], string> {
  const words = 'must be three-letter currency codes in capitals, separated by commas, like NGN';
  return transformed(list(), words, (codes) =>
    codes.length > 0 && codes.every((code) => /^[A-Z]{3}$/.test(code)) ? [...new Set(codes)] : undefined,
  );
}

export function jsonObject(): z.ZodType<JsonObject, string> {
  return transformed(text(), 'must be a JSON object, like {"clientId":"{{CLIENT_ID}}"}', parseJsonObject);
}

/** A JSON object with `{{NAME}}` placeholders. Unknown placeholders are refused: they would be sent unfilled. */
export function jsonTemplate(placeholders: readonly string[]): z.ZodType<JsonObject, string> {
  const written = placeholders.map((name) => `{{${name}}}`);
  return jsonObject().refine((body) => placeholdersIn(body).every((name) => placeholders.includes(name)), {
    error: `may hold no other places than ${listed(written, 'and')}`,
  });
}

/** The placeholders in the values. Keys are not searched: they are never filled in. */
export function placeholdersIn(value: unknown): string[] {
  const found = textsIn(value).flatMap((one) => [...one.matchAll(/\{\{([^{}]*)\}\}/g)]);
  return found.map(([, name = '']) => name);
}

function parseJsonObject(value: string): JsonObject | undefined {
  const found = parseJson(value);
  return isJsonObject(found) ? found : undefined;
}

/** `id` stands unencrypted before each text that the key sealed. */
type SealingKey = { id: string; key: Uint8Array };

/** `id:base64` pairs, newest first: the first key seals, every key opens. */
export function sealingKeys(): z.ZodType<SealingKey[], string> {
  const words =
    'must be id:key pairs with an id of its own each, separated by commas, the key 32 random bytes in base64 (openssl rand -base64 32)';
  return transformed(list(), words, (items) => {
    const keys = items.map(parseSealingKey).filter((key) => key !== undefined);
    const ids = new Set(keys.map(({ id }) => id));
    return ids.size > 0 && ids.size === items.length ? keys : undefined;
  });
}

function parseSealingKey(item: string): SealingKey | undefined {
  const match = /^([a-z0-9-]{1,16}):([A-Za-z0-9+/]{43}=)$/.exec(item);
  return match?.[1] && match[2] ? { id: match[1], key: Buffer.from(match[2], 'base64') } : undefined;
}

/** Node's reason why a file could not be read: ENOENT, EACCES. */
export function fileErrorCode(error: unknown): string {
  return errorCode(error) ?? 'unknown error';
}

/** One setting: its environment variable, purpose, reader and default. */
export type Setting<T = unknown> = {
  /** The setting's heading in the docs; set by `inGroup`. */
  group: string;
  /** One or two sentences, for docs/settings.md. */
  description: string;
  read: z.ZodType<T, string>;
  /** The default, as text; absent: the value is undefined. */
  fallback?: string;
  /** Never shown in a message. Can also be read from the file named by NAME_FILE. */
  secret?: true;
};

export type RequiredSetting<T> = Setting<T> & { fallback: string };

export function setting<T>(
  description: string,
  read: z.ZodType<T, string>,
  fallback: string,
): RequiredSetting<T>;
export function setting<T>(description: string, read: z.ZodType<T, string>): Setting<T>;
export function setting<T>(description: string, read: z.ZodType<T, string>, fallback?: string): Setting<T> {
  return { group: '', description, read, ...(fallback === undefined ? {} : { fallback }) };
}

export function secret<T>(description: string, read: z.ZodType<T, string>): Setting<T> {
  return { group: '', description, read, secret: true };
}

export function inGroup<Table extends Record<string, Setting>>(group: string, table: Table): Table {
  return Object.fromEntries(Object.entries(table).map(([key, one]) => [key, { ...one, group }])) as Table;
}
