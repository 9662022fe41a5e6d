import { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { PaymentsClient } from './client.ts';
import { ServiceFailure } from '../domain/failure.ts';
import { type JsonObject, valueAtFirst, parseJson, textsIn } from '../domain/json.ts';
import { addressAdvice, readable, wordsOf } from './failures.ts';
import type { SharedToken, Token } from './access-token.ts';
import { asObject, looseText } from './wire.ts';
import { dayMs } from '../domain/span.ts';

/** The account that gets tokens: the parent, else the merchant account itself. */
export function parentAccountOf(config: Config): string {
  return config.paymentsParentAccountId ?? config.paymentsAccountId ?? '';
}

/**
 * Obtains a new access token for the parent account. Throws ServiceFailure, never with the answer or the credentials in
 * its message. `onAnswer` is called with any answer but a refusal, before the token is read.
 *
 * Spec: POST {base_url}/v1/auth/token/issue; body and answer: not shown, so settings.
 */
export async function issueToken(
  client: PaymentsClient,
  config: Config,
  nowMs: number,
  onAnswer?: (answer: unknown) => void,
): Promise<Token> {
  const body = fillBody(config.paymentsTokenIssueBody, config);
  const header = { accountId: parentAccountOf(config) };
  const answer = await answerOr401(client.POST('/v1/auth/token/issue', { params: { header }, body }));
  if (!isRefusal(answer.data)) onAnswer?.(answer.data);
  return readAnswer(answer, body, config, nowMs);
}

/**
 * Exchanges the last token for a new one. Throws ServiceFailure; then the caller issues a new one.
 *
 * Spec: POST {base_url}/v1/auth/token/refresh (bearer authentication); body and answer: not shown.
 */
export async function refreshToken(
  client: PaymentsClient,
  config: Config,
  last: SharedToken,
  nowMs: number,
): Promise<Token> {
  const body = fillBody(config.paymentsTokenRefreshBody, config, last);
  const answer = await client.POST('/v1/auth/token/refresh', {
    params: { header: { accountId: parentAccountOf(config) } },
    headers: { Authorization: `Bearer ${last.accessToken}` },
    body,
  });
  return readAnswer(answer, body, config, nowMs);
}

/**
 * Revokes the token at the service. Throws ServiceFailure; unless the service refused, the token may be revoked all the
 * same.
 *
 * Spec: POST {base_url}/v1/auth/token/revoke (no Authorization and no accountId declared); body and answer:
 * not shown. A `code` in the answer is judged like everywhere.
 */
export async function revokeToken(client: PaymentsClient, config: Config, token: SharedToken): Promise<void> {
  const body = fillBody(config.paymentsTokenRevokeBody, config, token);
  const { data, response } = await answerOr401(client.POST('/v1/auth/token/revoke', { body }));
  if (!isRefusal(data)) return;
  const { status: httpStatus } = response;
  const message = `The payments service refused to revoke the access token (HTTP ${httpStatus}): check PAYMENTS_TOKEN_REVOKE_BODY.`;
  throw new ServiceFailure('unauthorized', message, { httpStatus });
}

type Answer = { data?: unknown; error?: unknown; response: Pick<Response, 'status'> };

/** Returns HTTP 401 as an answer: as no token was sent, it is about the body, like 400. */
async function answerOr401(call: Promise<Answer>): Promise<Answer> {
  return await call.catch((error: unknown) => {
    if (error instanceof ServiceFailure && error.kind === 'unauthorized')
      return { response: { status: 401 } };
    throw error;
  });
}

/** Any code but "00" is a refusal, even if the answer has a token. `sent`: struck out of the service's words. */
function readAnswer({ data, error, response }: Answer, sent: unknown, config: Config, nowMs: number): Token {
  if (!isRefusal(data)) return readTokenAnswer(data, config, nowMs);
  const envelope = asObject(data ?? error);
  const code = looseText.parse(envelope?.['code']);
  const { status: httpStatus } = response;
  const details = { httpStatus, said: wordsOf(envelope, secretsIn(sent, config)) };
  const how = `HTTP ${httpStatus}${code === undefined ? '' : `, code ${readable(code)}`}`;
  if (httpStatus === 404) {
    const words = `There is nothing at the path for access tokens (${how}): check ${addressAdvice(config)}.`;
    throw new ServiceFailure('malformed', words, details);
  }
  const fix = 'check PAYMENTS_CLIENT_ID, PAYMENTS_CLIENT_SECRET and PAYMENTS_TOKEN_ISSUE_BODY';
  const message = `The payments service refused to give an access token (${how}): ${fix}.`;
  throw new ServiceFailure('unauthorized', message, details);
}

function secretsIn(sent: unknown, config: Config): string[] {
  return [config.paymentsClientId ?? '', config.paymentsClientSecret ?? '', ...textsIn(sent)];
}

function isRefusal(data: unknown): boolean {
  const code = looseText.parse(asObject(data)?.['code']);
  return data === undefined || (code !== undefined && code !== '00');
}

function fillBody(
  template: JsonObject | undefined,
  config: Config,
  last?: SharedToken,
): Record<string, unknown> {
  return fillTemplate(template ?? {}, {
    CLIENT_ID: config.paymentsClientId,
    CLIENT_SECRET: config.paymentsClientSecret,
    ACCOUNT_ID: parentAccountOf(config),
    ACCESS_TOKEN: last?.accessToken,
    REFRESH_TOKEN: last?.refreshToken,
  });
}

/**
 * Reads a token answer. Throws ServiceFailure (malformed) if no pointer leads to an access token. The message names the
 * pointers, never the answer.
 *
 * Spec: Authenticate (data: token payload; its fields: not shown).
 */
export function readTokenAnswer(answer: unknown, config: Config, nowMs: number): Token {
  const accessToken = looseText.parse(valueAtFirst(answer, config.paymentsAccessTokenPointers));
  // Other characters don't fit in a header, and fetch's error would quote the token.
  if (accessToken === undefined || !/^[\x21-\x7e]+$/.test(accessToken)) {
    throw new ServiceFailure(
      'malformed',
      `The token answer holds no usable access token at ${config.paymentsAccessTokenPointers.join(' or ')}: set PAYMENTS_ACCESS_TOKEN_POINTERS.`,
    );
  }
  const refreshToken = looseText.parse(valueAtFirst(answer, config.paymentsRefreshTokenPointers));
  const stated = readLifetimeMs(valueAtFirst(answer, config.paymentsTokenExpiryPointers), nowMs);
  const lifetimeMs =
    stated === undefined
      ? config.paymentsTokenLifetimeSeconds * 1_000
      : (plausibleMs(stated) ?? lifetimeInToken(accessToken, nowMs) ?? assumedLifetimeMs);
  return { accessToken, refreshToken, lifetimeMs };
}

/** Assumed if the stated lifetime is too short to be true. */
const assumedLifetimeMs = 60_000;
/** A shorter stated lifetime is really the time of issue, in the wrong field. */
const shortestLifetimeMs = 2_000;

/** Some services say "never" as the year 9999; the bot requests a new token after a year. */
const longestLifetimeMs = 365 * dayMs;

/** Numbers up to ten years are seconds; larger ones are Unix times in seconds or milliseconds. */
export function readLifetimeMs(value: unknown, nowMs: number): number | undefined {
  const text = looseText.parse(value) ?? '';
  const number = text === '' ? Number.NaN : Number(text);
  const lifetimeMs = Number.isFinite(number) ? lifetimeOfNumber(number, nowMs) : Date.parse(text) - nowMs;
  return Number.isFinite(lifetimeMs) ? lifetimeMs : undefined;
}

function plausibleMs(lifetimeMs: number): number | undefined {
  return lifetimeMs >= shortestLifetimeMs ? Math.min(lifetimeMs, longestLifetimeMs) : undefined;
}

const tokenTimes = z.object({ exp: z.number(), iat: z.number().optional() });

/** A JSON Web Token's own lifetime. Uses its time of issue if there is one, so clocks may differ. */
export function lifetimeInToken(token: string, nowMs: number): number | undefined {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  const times = tokenTimes.safeParse(parseJson(payload)).data;
  return times && plausibleMs(times.exp * 1_000 - (times.iat === undefined ? nowMs : times.iat * 1_000));
}

function lifetimeOfNumber(number: number, nowMs: number): number {
  if (number < 315_360_000) return number * 1_000;
  return number < 100_000_000_000 ? number * 1_000 - nowMs : number - nowMs;
}

/** A name without a value becomes empty text. */
type TemplateValues = { readonly [name: string]: string | undefined };

/**
 * Replaces each `{{NAME}}` in the body's texts. Works on parsed JSON, so that quotes and backslashes in a secret can't
 * change the body's shape.
 */
export function fillTemplate(template: JsonObject, values: TemplateValues): Record<string, unknown> {
  const fill = (_key: string, leaf: unknown): unknown =>
    typeof leaf === 'string'
      ? leaf.replace(/\{\{([A-Z_]+)\}\}/g, (_place, name: string) => values[name] ?? '')
      : leaf;
  return JSON.parse(JSON.stringify(template), fill) as Record<string, unknown>;
}
