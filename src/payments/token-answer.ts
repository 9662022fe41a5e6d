import { ServiceFailure } from '../domain/failure.ts';
import { valueAtFirst } from '../domain/json-pointer.ts';
import { looseText } from './wire.ts';

/** Where the parts of a token answer stand; ordered JSON pointers. Spec: not shown, so these are settings. */
export type TokenPointers = { accessToken: string[]; refreshToken: string[]; expiry: string[] };

export type Token = { accessToken: string; refreshToken?: string | undefined; lifetimeMs: number };

/**
 * Reads a token answer. Throws ServiceFailure (malformed) when no pointer leads to an access token; the
 * message names the pointers, never the answer.
 *
 * Spec: Authenticate (data: token payload; its fields: not shown).
 */
export function readTokenAnswer(
  answer: unknown,
  pointers: TokenPointers,
  clock: { nowMs: number; fallbackLifetimeMs: number },
): Token {
  const accessToken = looseText.parse(valueAtFirst(answer, pointers.accessToken));
  // Anything else could not travel in a header, and the refusal to put it there would quote it.
  if (accessToken === undefined || !/^[\x21-\x7e]+$/.test(accessToken)) {
    throw new ServiceFailure(
      'malformed',
      `The token answer holds no usable access token at ${pointers.accessToken.join(' or ')}: set PAYMENTS_ACCESS_TOKEN_POINTERS.`,
    );
  }
  const refreshToken = looseText.parse(valueAtFirst(answer, pointers.refreshToken));
  const told = readLifetimeMs(valueAtFirst(answer, pointers.expiry), clock.nowMs);
  return { accessToken, refreshToken, lifetimeMs: told ?? clock.fallbackLifetimeMs };
}

/** "Never" is often written as the year 9999; a year is asked for again soon enough. */
const longestLifetimeMs = 365 * 86_400_000;

/** Numbers up to ten years are a duration in seconds, larger ones a Unix time in seconds or milliseconds. */
function readLifetimeMs(value: unknown, nowMs: number): number | undefined {
  const text = looseText.parse(value);
  if (text === undefined) return undefined;
  const number = Number(text);
  const lifetimeMs = Number.isFinite(number) ? lifetimeOfNumber(number, nowMs) : Date.parse(text) - nowMs;
  return Number.isFinite(lifetimeMs) && lifetimeMs > 0 ? Math.min(lifetimeMs, longestLifetimeMs) : undefined;
}

function lifetimeOfNumber(number: number, nowMs: number): number {
  if (number < 315_360_000) return number * 1_000;
  return number < 100_000_000_000 ? number * 1_000 - nowMs : number - nowMs;
}
