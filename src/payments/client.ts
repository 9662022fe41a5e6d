import createClient, { type Client } from 'openapi-fetch';
import { withDeadline } from '../deadline.ts';
import { ServiceFailure } from '../domain/failure.ts';
import { isJsonObject } from '../domain/json-pointer.ts';
import type { AccessToken } from './access-token.ts';
import { failureOfStatus, failureOfThrow, timeoutFailure } from './failures.ts';
import { refuseLate } from './leaving.ts';
import type { paths } from './schema.d.ts';
import { takesNoToken } from './tokenless.ts';

export type PaymentsClient = Client<paths>;

export type ClientSettings = {
  /** {base_url}, or {sandbox_url} when `sandbox` is true. */
  baseUrl: string;
  sandbox: boolean;
  /** Deadline of one call, its token and its one repeat included. */
  timeoutMs: number;
};

export type ClientDeps = { accessToken: AccessToken; fetch: (request: Request) => Promise<Response> };

/** They take no Authorization: issuing makes the token, the next has no security declared, and the last three speak for the payer. */
const withoutToken = new Set([
  '/v1/auth/token/issue',
  '/v1/auth/token/revoke',
  '/v1/checkout/checkout-card-detail',
  '/v1/checkout/checkout-card-otp',
  '/v1/checkout/resend-otp',
]);

/**
 * The typed client of the payments service. A call resolves with the service's answer (2xx, and 400 and 404,
 * which are answers in this specification; a 404 only when it is JSON) and its JSON; for anything else it throws ServiceFailure. Each
 * call has one deadline, follows no redirect, carries credentials only where the specification wants them,
 * and after a 401 renews the token once and repeats once, which is safe: a 401 was never acted on.
 *
 * Callers always name the production path; in the sandbox the checkout paths are exchanged here.
 *
 * Spec: Authentication; Sandbox endpoints; Errors.
 */
export function createPaymentsClient(settings: ClientSettings, deps: ClientDeps): PaymentsClient {
  async function send(request: Request): Promise<Response> {
    const { timeoutMs } = settings;
    try {
      return await withDeadline(
        timeoutMs,
        (signal) => exchange(request, signal),
        () => timeoutFailure(timeoutMs),
      );
    } catch (error) {
      throw failureOfThrow(error);
    }
  }

  async function exchange(request: Request, signal: AbortSignal): Promise<Response> {
    const path = new URL(request.url).pathname.slice(basePathLength(settings.baseUrl));
    const url = settings.sandbox ? sandboxUrl(settings.baseUrl, path, request.url) : request.url;
    // A refresh brings the token it refreshes.
    const isReady = withoutToken.has(path) || takesNoToken(request) || request.headers.has('Authorization');
    if (isReady) return await readAnswer(await leave(url, request, undefined, signal), settings);
    const token = await deps.accessToken.current();
    const first = await leave(url, request, token, signal);
    if (first.status !== 401) return await readAnswer(first, settings);
    await first.body?.cancel();
    const newer = await deps.accessToken.replace(token);
    return await readAnswer(await leave(url, request, newer, signal), settings);
  }

  function leave(
    url: string,
    request: Request,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    refuseLate(request);
    // A repeat needs the body again.
    const leaving = new Request(url, request.clone());
    if (token !== undefined) leaving.headers.set('Authorization', `Bearer ${token}`);
    return deps.fetch(new Request(leaving, { redirect: 'error', signal }));
  }

  return createClient<paths>({ baseUrl: settings.baseUrl, fetch: send });
}

/** A base URL may itself have a path, behind a proxy. */
function basePathLength(baseUrl: string): number {
  return new URL(baseUrl).pathname.replace(/\/$/, '').length;
}

/** Spec: Sandbox endpoints: only checkout paths differ, and there is no resend-otp. */
function sandboxUrl(baseUrl: string, path: string, url: string): string {
  if (!path.startsWith('/v1/checkout/')) return url;
  if (path === '/v1/checkout/resend-otp') {
    throw new ServiceFailure('malformed', 'The sandbox has no way to resend an OTP.');
  }
  return `${baseUrl}${path.replace('/v1/', '/sandbox/')}${new URL(url).search}`;
}

/** Reads the whole body before the deadline and answers with JSON, or throws what the status means. */
async function readAnswer(response: Response, settings: ClientSettings): Promise<Response> {
  const text = await response.text();
  const failure = failureOfStatus(response);
  if (failure) throw failure;
  const { status } = response;
  const json = parseJson(text);
  if (json === undefined && response.ok) {
    const message = 'The payments service answered with something that is not JSON.';
    throw new ServiceFailure('malformed', message, { httpStatus: status });
  }
  if (status === 404 && !isJsonObject(json)) throw notTheService(settings);
  const headers = { 'Content-Type': 'application/json' };
  return new Response(json === undefined ? '{}' : text, { status, headers });
}

/** The service's own 404 is JSON; what any web server says to a path it does not know is no answer about a record. */
function notTheService({ sandbox }: ClientSettings): ServiceFailure {
  const setting = sandbox ? 'PAYMENTS_SANDBOX_URL' : 'PAYMENTS_BASE_URL';
  const message = `HTTP 404 came without a JSON object, so not from the payments service: check ${setting}.`;
  return new ServiceFailure('malformed', message, { httpStatus: 404 });
}

/** Undefined when it is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
