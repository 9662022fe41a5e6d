import type { PaymentsClient } from './client.ts';
import { ServiceFailure } from '../domain/failure.ts';
import { valueAtFirst } from '../domain/json-pointer.ts';
import { readable, wordsOf } from './failures.ts';
import type { SharedToken } from './access-token.ts';
import { asObject, looseText } from './wire.ts';

export type TokenSettings = {
  parentAccountId: string;
  clientId: string | undefined;
  clientSecret: string | undefined;
  issueBody: JsonTemplate;
  refreshBody: JsonTemplate | undefined;
  pointers: TokenPointers;
  fallbackLifetimeMs: number;
};

/**
 * Obtains a new access token for the parent account. Throws ServiceFailure; its message never holds the
 * answer or the credentials.
 *
 * Spec: POST {base_url}/v1/auth/token/issue; body and answer: not shown, so settings.
 */
export async function issueToken(
  client: PaymentsClient,
  settings: TokenSettings,
  now: () => number,
): Promise<Token> {
  try {
    const body = fillTemplate(settings.issueBody, templateValues(settings, undefined));
    const header = { accountId: settings.parentAccountId };
    const answer = await client.POST('/v1/auth/token/issue', { params: { header }, body });
    return readAnswer(answer, body, settings, now);
  } catch (error) {
    const refused = error instanceof ServiceFailure && error.kind === 'unauthorized';
    throw refused && error.said === undefined ? issueRefused(error.httpStatus) : error;
  }
}

function issueRefused(httpStatus: number | undefined, code?: string, said?: string): ServiceFailure {
  const fix = 'check PAYMENTS_CLIENT_ID, PAYMENTS_CLIENT_SECRET and PAYMENTS_TOKEN_ISSUE_BODY';
  const how = `HTTP ${httpStatus}${code === undefined ? '' : `, code ${readable(code)}`}`;
  const message = `The payments service refused to give an access token (${how}): ${fix}.`;
  return new ServiceFailure('unauthorized', message, { httpStatus, said });
}

/**
 * Exchanges the last token for a new one. Throws ServiceFailure, after which the caller issues anew.
 *
 * Spec: POST {base_url}/v1/auth/token/refresh (bearer authentication); body and answer: not shown.
 */
export async function refreshToken(
  client: PaymentsClient,
  settings: TokenSettings & { refreshBody: JsonTemplate },
  last: SharedToken & { refreshToken: string },
  now: () => number,
): Promise<Token> {
  const body = fillTemplate(settings.refreshBody, templateValues(settings, last));
  const answer = await client.POST('/v1/auth/token/refresh', {
    params: { header: { accountId: settings.parentAccountId } },
    headers: { Authorization: `Bearer ${last.accessToken}` },
    body,
  });
  return readAnswer(answer, body, settings, now);
}

/**
 * Makes the token worthless at the service. Throws ServiceFailure; unless the service refused, the token may
 * be worthless all the same.
 *
 * Spec: POST {base_url}/v1/auth/token/revoke (no Authorization and no accountId declared); body and answer:
 * not shown. A `code` in the answer is judged like everywhere.
 */
export async function revokeToken(
  client: PaymentsClient,
  settings: TokenSettings & { revokeBody: JsonTemplate },
  token: SharedToken,
): Promise<void> {
  const body = fillTemplate(settings.revokeBody, templateValues(settings, token));
  const { data, response } = await client.POST('/v1/auth/token/revoke', { body }).catch(toRevokeRefused);
  const code = looseText.parse(asObject(data)?.['code']);
  if (data === undefined || (code !== undefined && code !== '00')) throw revokeRefused(response.status);
}

/** No token was sent, so HTTP 401 is about the body. */
function toRevokeRefused(error: unknown): never {
  const refused = error instanceof ServiceFailure && error.kind === 'unauthorized';
  throw refused ? revokeRefused(error.httpStatus) : error;
}

function revokeRefused(httpStatus: number | undefined): ServiceFailure {
  const message = `The payments service refused to revoke the access token (HTTP ${httpStatus}): check PAYMENTS_TOKEN_REVOKE_BODY.`;
  return new ServiceFailure('unauthorized', message, { httpStatus });
}

/** What came with another code than "00" is no token, whatever stands in it. `sent` may be repeated in its words. */
function readAnswer(
  { data, error, response }: { data?: unknown; error?: unknown; response: Response },
  sent: unknown,
  settings: TokenSettings,
  now: () => number,
): Token {
  const envelope = asObject(data ?? error);
  const code = looseText.parse(envelope?.['code']);
  if (data === undefined || (code !== undefined && code !== '00')) {
    const secrets = [settings.clientId ?? '', settings.clientSecret ?? '', ...textsIn(sent)];
    throw issueRefused(response.status, code, wordsOf(envelope, secrets));
  }
  const clock = { nowMs: now(), fallbackLifetimeMs: settings.fallbackLifetimeMs };
  return readTokenAnswer(data, settings.pointers, clock);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function templateValues(settings: TokenSettings, last: SharedToken | undefined): TemplateValues {
  return {
    CLIENT_ID: settings.clientId,
    CLIENT_SECRET: settings.clientSecret,
    ACCOUNT_ID: settings.parentAccountId,
    ACCESS_TOKEN: last?.accessToken,
    REFRESH_TOKEN: last?.refreshToken,
  };
}

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

/** A JSON body whose text leaves may hold `{{NAME}}` places. */
export type JsonTemplate = { readonly [name: string]: unknown };

/** Values for the places; a place without a value stays empty text. */
export type TemplateValues = { readonly [name: string]: string | undefined };

/**
 * The body with its places filled in. Works on the parsed leaves, never on the JSON text, so that a quote
 * or a backslash in a secret cannot change the body's shape.
 */
export function fillTemplate(template: JsonTemplate, values: TemplateValues): Record<string, unknown> {
  return Object.fromEntries(Object.entries(template).map(([name, leaf]) => [name, fillLeaf(leaf, values)]));
}

function fillLeaf(leaf: unknown, values: TemplateValues): unknown {
  if (typeof leaf === 'string')
    return leaf.replace(/\{\{([A-Z_]+)\}\}/g, (_place, name: string) => values[name] ?? '');
  if (Array.isArray(leaf)) return leaf.map((item) => fillLeaf(item, values));
  if (typeof leaf === 'object' && leaf !== null) return fillTemplate(leaf as JsonTemplate, values);
  return leaf;
}
