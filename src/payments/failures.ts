import type { Config } from '../config/config.ts';
import { type FailureKind, ServiceFailure } from '../domain/failure.ts';
import { asObject, looseText, withoutSecrets } from './wire.ts';

/**
 * The failure behind an HTTP status; undefined for 2xx, 400, 404 and 422, which are answers.
 *
 * Spec: Errors (HTTP status responses); Limits (rate limiting).
 */
export function failureOfStatus(response: Response, nowMs: number): ServiceFailure | undefined {
  const { status: httpStatus } = response;
  if (response.ok || [400, 404, 422].includes(httpStatus)) return undefined;
  if (httpStatus === 429) return rateLimited(retryAfterMs(response.headers, nowMs), httpStatus);
  const [kind, message] = failures.get(httpStatus) ?? [
    'server',
    `The payments service answered with HTTP ${httpStatus}.`,
  ];
  return new ServiceFailure(kind, message, { httpStatus });
}

const failures = new Map<number, [kind: FailureKind, message: string]>([
  [401, ['unauthorized', 'The payments service does not accept the access token.']],
  [403, ['forbidden', 'This client may not do that at the payments service.']],
]);

/** `retryAfterMs`: undefined if the service did not say when it takes calls again. */
export function rateLimited(retryAfterMs: number | undefined, httpStatus?: number): ServiceFailure {
  const goesOn = retryAfterMs === undefined ? '' : `; they go on in ${Math.ceil(retryAfterMs / 1_000)} s`;
  const message = `The payments service allows no more calls for now${goesOn}.`;
  return new ServiceFailure('rate_limited', message, { httpStatus, retryAfterMs });
}

/** The longest pause, as a mistake in a header must not stop an account for days. */
const longestPauseMs = 900_000;

/** `Retry-After` in seconds or as a date, else the window that the service names ("60s", "1m"); undefined: neither. */
function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get('Retry-After');
  const ms =
    text === null
      ? spanMs(headers.get('X-Rate-Limit-Window') ?? '')
      : (spanMs(text) ?? Date.parse(text) - nowMs);
  return ms !== undefined && ms > 0 ? Math.min(ms, longestPauseMs) : undefined;
}

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/**
 * "60", "60s", "60 seconds", "60000ms", "1m", "1 minute", "1h", "PT1M". Spec: Limits (window length as text, unit s).
 */
function spanMs(text: string): number | undefined {
  const [, digits, unit = 's'] =
    /^\s*(?:PT)?(\d{1,8})\s*(ms|s|m|h)?(?:ec|econds?|in|inutes?|ours?)?\s*$/i.exec(text) ?? [];
  return digits === undefined
    ? undefined
    : Number(digits) * unitsMs[unit.toLowerCase() as keyof typeof unitsMs];
}

/** The failure behind an answer that lacks its data: a refusal in the service's own words, else `missing`. */
export function failureOfAnswer(
  { data, error, response }: { data?: unknown; error?: unknown; response: Response },
  missing: string,
): ServiceFailure {
  const { status: httpStatus, ok } = response;
  const envelope = asObject(data ?? error);
  const code = looseText.parse(envelope?.['code']);
  const said = wordsOf(envelope);
  const isRefusal = ok ? code !== undefined && code !== '00' : code !== undefined || said !== undefined;
  if (!isRefusal) return new ServiceFailure('malformed', missing, { httpStatus });
  const message = `The payments service refused the request (HTTP ${httpStatus}, code ${code === undefined ? 'missing' : readable(code)}).`;
  return new ServiceFailure('refused', message, { httpStatus, said });
}

/** The envelope's words for people, secrets struck out. */
export function wordsOf(
  envelope: Readonly<Record<string, unknown>> | undefined,
  secrets: readonly string[] = [],
): string | undefined {
  const { description, message, data } = envelope ?? {};
  const said = [description, message, asObject(data)?.['message']].map((one) => looseText.parse(one));
  return withoutSecrets(
    said.find((text) => text !== undefined),
    secrets,
  );
}

/** The code is outside text, and the message reaches the log and the health report. */
export function readable(code: string): string {
  return code.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 8) || 'unreadable';
}

/** The service may have acted on the request. */
export function timeoutFailure(timeoutMs: number): ServiceFailure {
  return new ServiceFailure('timeout', `No answer from the payments service in ${timeoutMs / 1_000} s.`);
}

/**
 * The failure of a request without an answer: the service may have acted on it. Other errors are returned unchanged.
 */
export function failureOfThrow(error: unknown): unknown {
  // Standard fetch throws TypeError for every network failure, redirects included.
  if (error instanceof TypeError) {
    return new ServiceFailure('network', 'The payments service could not be reached.', { cause: error });
  }
  return error;
}

/** The setting that says where the payments service is. */
export function addressSetting({ paymentsEnvironment }: Pick<Config, 'paymentsEnvironment'>): string {
  return paymentsEnvironment === 'sandbox' ? 'PAYMENTS_SANDBOX_URL' : 'PAYMENTS_BASE_URL';
}

/** What to check if nothing of the service answers there. Documentation often shows addresses with the version. */
export function addressAdvice(config: Pick<Config, 'paymentsEnvironment'>): string {
  return `${addressSetting(config)}, which must not end in /v1`;
}
