import { ServiceFailure } from '../domain/failure.ts';

/**
 * What an HTTP status means where it is no answer; undefined for 2xx, 400 and 404, which are.
 *
 * Spec: Errors (HTTP status responses); Limits (rate limiting).
 */
export function failureOfStatus(response: Response): ServiceFailure | undefined {
  const { status: httpStatus } = response;
  if (response.ok || httpStatus === 400 || httpStatus === 404) return undefined;
  switch (httpStatus) {
    case 401:
      return new ServiceFailure('unauthorized', 'The payments service does not accept the access token.', {
        httpStatus,
      });
    case 403:
      return new ServiceFailure('forbidden', 'This client may not do that at the payments service.', {
        httpStatus,
      });
    case 429:
      return new ServiceFailure('rate_limited', 'The payments service allows no more calls for now.', {
        httpStatus,
        retryAfterMs: retryAfterMs(response.headers),
      });
    default:
      return new ServiceFailure('server', `The payments service answered with HTTP ${httpStatus}.`, {
        httpStatus,
      });
  }
}

/** `Retry-After` in seconds, else the window the service names ("60s"); undefined when it says neither. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('Retry-After') ?? headers.get('X-Rate-Limit-Window');
  const seconds = /^\s*(\d{1,6})\s*(?:s|sec|seconds?)?\s*$/i.exec(text ?? '')?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

/** Whether the request was acted on is unknown. */
export function timeoutFailure(timeoutMs: number): ServiceFailure {
  return new ServiceFailure('timeout', `No answer from the payments service in ${timeoutMs / 1_000} s.`);
}

/** Nothing was answered. Whether the request was acted on is unknown. What is no failure of the network stays itself. */
export function failureOfThrow(error: unknown): unknown {
  // The standard's fetch throws TypeError for every failure of the network, redirects included.
  if (error instanceof TypeError) {
    return new ServiceFailure('network', 'The payments service could not be reached.', { cause: error });
  }
  return error;
}
