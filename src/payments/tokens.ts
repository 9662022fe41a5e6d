import type { PaymentsClient } from './client.ts';
import { ServiceFailure } from '../domain/failure.ts';
import { readable, wordsOf } from './failures.ts';
import { readTokenAnswer, type Token, type TokenPointers } from './token-answer.ts';
import { fillTemplate, type JsonTemplate, type TemplateValues } from './token-body.ts';
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
