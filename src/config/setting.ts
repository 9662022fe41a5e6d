import type { z } from 'zod';

/** One setting: an environment variable, what it is for, how it is read, and what holds without it. */
export type Setting<T = unknown> = {
  group: string;
  says: string;
  read: z.ZodType<T, string>;
  /** The text that holds when the variable is absent; none: the value is undefined. */
  fallback?: string;
  /** Never shown in a message; also read from the file that NAME_FILE names. */
  secret?: true;
};

export type RequiredSetting<T> = Setting<T> & { fallback: string };

export function setting<T>(
  group: string,
  says: string,
  read: z.ZodType<T, string>,
  fallback: string,
): RequiredSetting<T>;
export function setting<T>(group: string, says: string, read: z.ZodType<T, string>): Setting<T>;
export function setting<T>(
  group: string,
  says: string,
  read: z.ZodType<T, string>,
  fallback?: string,
): Setting<T> {
  return fallback === undefined ? { group, says, read } : { group, says, read, fallback };
}

export function secret<T>(group: string, says: string, read: z.ZodType<T, string>): Setting<T> {
  return { group, says, read, secret: true };
}
