import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { withDeadline } from '../deadline.ts';
import { ServiceFailure, type FailureKind } from '../domain/failure.ts';
import { isJsonObject, parseJson } from '../domain/json.ts';
import { leftOf, spanOf, type Span } from '../domain/span.ts';
import type { AccessToken } from './access-token.ts';
import { addressAdvice, failureOfStatus, failureOfThrow, rateLimited, timeoutFailure } from './failures.ts';
import type { paths } from './schema.d.ts';

export type PaymentsClient = Client<paths>;

/** Called after each call: its operation, `ok` or the failure, and its seconds, including the wait for a token. */
export type Called = (operation: string, result: 'ok' | FailureKind | 'error', seconds: number) => void;

type ClientOptions = {
  /** {base_url}, or {sandbox_url} when `sandbox` is true. */
  baseUrl: string;
  sandbox: boolean;
  /** The deadline of one call, including the wait for a token and the repeat after a 401. */
  timeoutMs: number;
  accessToken: AccessToken;
  fetch?: (request: Request) => Promise<Response>;
  /**
   * The pauses that the service asked for, by address, account and endpoint, since each endpoint has a quota of its
   * own. Accounts share the map. Default: a map for this client alone.
   */
  pauses?: Map<string, Span> | undefined;
  called?: Called | undefined;
  now?: () => number;
};

/** No Authorization: `issue` makes the token, and `revoke` declares no security. */
const tokenPaths = new Set(['/v1/auth/token/issue', '/v1/auth/token/revoke']);

/** No Authorization either: these calls are made for the payer. */
const payerPaths = new Set([
  '/v1/checkout/checkout-card-detail',
  '/v1/checkout/checkout-card-otp',
  '/v1/checkout/resend-otp',
]);

const tokenless = new WeakSet<Request>();

/** For calls that a setting exempts from Authorization, on any path. */
export const withoutAuthorization: Middleware = {
  onRequest({ request }) {
    tokenless.add(request);
  },
};

/** The last moment (UTC ms) at which a request may be sent, by the clock of this process. */
export type SendDeadline = { leaveBy: number; now: () => number };

const sendDeadlines = new WeakMap<Request, SendDeadline>();

/** Refuses to send a request after its deadline; checked after any wait for a token. */
export function withSendDeadline(deadline: SendDeadline): Middleware {
  return {
    onRequest({ request }) {
      sendDeadlines.set(request, deadline);
    },
  };
}

/** Throws if the deadline has passed, or is not a number. */
function refuseLate(request: Request): void {
  const deadline = sendDeadlines.get(request);
  if (!deadline || deadline.now() <= deadline.leaveBy) return;
  throw new ServiceFailure('timeout', 'It was too late for the request to leave: nothing was sent.');
}

const mebibyte = 1_048_576;

/** Calls under way at once. If the service hangs, further calls are refused, because each holds a connection. */
const mostWaiting = 256;

function tooManyWait(): ServiceFailure {
  return new ServiceFailure(
    'timeout',
    `${mostWaiting} calls wait for the payments service: nothing was sent.`,
  );
}

/**
 * The typed client of the payments service. Resolves with the answer (2xx, 400, 422, and 404 if it is JSON) and its
 * JSON of at most 1 MiB; anything else throws ServiceFailure. Each call has one deadline, follows no redirect and sends
 * credentials only where the specification wants them. A 401 renews the token once and repeats once: the service never
 * acted on it. During a requested pause (429), or while 256 calls wait, only calls for the payer (`payerPaths`) are
 * sent: holding back an OTP would cost the customer a try. Callers name the production path; the sandbox's checkout
 * paths are mapped here.
 *
 * Spec: Authentication; Sandbox endpoints; Errors.
 */
export function createPaymentsClient(options: ClientOptions): PaymentsClient {
  const { baseUrl, sandbox, timeoutMs, accessToken, pauses = new Map<string, Span>() } = options;
  const { fetch = (request) => globalThis.fetch(request), called, now = Date.now } = options;
  /** Names for metrics: the specification's path, because a real path may contain an id. */
  const operations = new WeakMap<Request, string>();
  let waiting = 0;

  async function send(request: Request): Promise<Response> {
    const startedMs = performance.now();
    const end = (result: 'ok' | FailureKind | 'error'): void =>
      called?.(operations.get(request) ?? '', result, (performance.now() - startedMs) / 1_000);
    waiting += 1;
    try {
      const answer = await withDeadline(
        timeoutMs,
        (signal) => exchange(request, signal),
        () => timeoutFailure(timeoutMs),
      );
      end('ok');
      return answer;
    } catch (error) {
      const failure = failureOfThrow(error);
      end(failure instanceof ServiceFailure ? failure.kind : 'error');
      throw failure;
    } finally {
      waiting -= 1;
    }
  }

  async function exchange(request: Request, signal: AbortSignal): Promise<Response> {
    const path = new URL(request.url).pathname.slice(basePathLength(baseUrl));
    const url = sandbox ? sandboxUrl(baseUrl, path, request.url) : request.url;
    const isForPayer = payerPaths.has(path);
    if (waiting > mostWaiting && !isForPayer) throw tooManyWait();
    const endpoint = isForPayer ? undefined : endpointOf(request);
    // Read as text: a stream can't be sent twice, and fetch sends a text's length.
    const body = request.body && (await request.text());

    async function sendOnce(token?: string): Promise<Response> {
      const waitMs = endpoint === undefined ? 0 : leftOf(pauses.get(endpoint), now());
      if (waitMs > 0) throw rateLimited(waitMs);
      refuseLate(request);
      const headers = new Headers([...request.headers]);
      if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
      const { method } = request;
      return await fetch(new Request(url, { method, headers, body, redirect: 'error', signal }));
    }

    async function read(response: Response): Promise<Response> {
      const failure = failureOfStatus(response, now());
      if (!failure) return await readAnswer(response, sandbox);
      await response.body?.cancel();
      // Pause only for `Retry-After`: the rate-limit window is a whole length, not the time left.
      const saysWhen = failure.retryAfterMs !== undefined && response.headers.has('Retry-After');
      if (endpoint !== undefined && saysWhen) {
        pauses.set(endpoint, spanOf(now(), failure.retryAfterMs));
      }
      throw failure;
    }

    // A token refresh brings its own Authorization.
    const needsNoToken =
      isForPayer || tokenPaths.has(path) || tokenless.has(request) || request.headers.has('Authorization');
    if (needsNoToken) return await read(await sendOnce());
    const token = await accessToken.current();
    const first = await sendOnce(token);
    if (first.status !== 401) return await read(first);
    await first.body?.cancel();
    return await read(await sendOnce(await accessToken.replace(token)));
  }

  const client = createClient<paths>({ baseUrl, fetch: send });
  client.use({
    onRequest({ request, schemaPath }) {
      operations.set(request, `${request.method} ${schemaPath}`);
    },
  });
  return client;
}

function endpointOf({ method, url, headers }: Request): string {
  const { origin, pathname } = new URL(url);
  return `${method} ${origin}${pathname} ${headers.get('accountId')?.toLowerCase() ?? ''}`;
}

/** Behind a proxy a base URL may have a path. */
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

/** Reads the whole body before the deadline. Resolves with JSON, or throws the failure. */
async function readAnswer(response: Response, sandbox: boolean): Promise<Response> {
  const { status } = response;
  const text = await readText(response);
  const json = parseJson(text);
  if (json === undefined && response.ok) {
    const message = 'The payments service answered with something that is not JSON.';
    throw new ServiceFailure('malformed', message, { httpStatus: status });
  }
  if (status === 404 && !isJsonObject(json)) throw notTheService(sandbox);
  const headers = { 'Content-Type': 'application/json' };
  return new Response(json === undefined ? '{}' : withLongNumbersAsText(text), { status, headers });
}

/**
 * JavaScript rounds whole numbers of more than 15 digits, so an id would become another one. (Webhooks are read as
 * exactly, and their ids are compared with those of look-ups.)
 */
function withLongNumbersAsText(json: string): string {
  return /[:[,]\s*-?\d{16}/.test(json) ? JSON.stringify(JSON.parse(json, longAsText)) : json;
}

function longAsText(_key: string, item: unknown, { source }: { source?: string } = {}): unknown {
  return Number.isInteger(item) && !Number.isSafeInteger(item) ? source : item;
}

/** At most 1 MiB, counted after decompression: a small answer can unpack to a large text. */
async function readText({ body, status }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > mebibyte) {
      const message = 'The payments service answered with more than 1 MiB.';
      throw new ServiceFailure('malformed', message, { httpStatus: status });
    }
    pieces.push(piece);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}

/** The service's own 404 is JSON. Any other 404 says nothing about a record. */
function notTheService(sandbox: boolean): ServiceFailure {
  const setting = addressAdvice({ paymentsEnvironment: sandbox ? 'sandbox' : 'live' });
  const message = `HTTP 404 came without a JSON object, so not from the payments service: check ${setting}.`;
  return new ServiceFailure('malformed', message, { httpStatus: 404 });
}
