const failureKinds = [
  'timeout',
  'network',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'server',
  'refused',
  'malformed',
] as const;

export type FailureKind = (typeof failureKinds)[number];

/**
 * The outside is broken: the payments service (or the way to it) gave no usable answer.
 * Not for an answer the service did give: declined, rejected, not found and wrong OTP are values.
 * The message never holds a token, an OTP or a body; the cause is kept for the log. `said` is the service's own
 * words, with known secrets struck out: for the person who asked, never for the log or the health.
 */
export class ServiceFailure extends Error {
  readonly kind: FailureKind;
  readonly retryAfterMs: number | undefined;
  readonly httpStatus: number | undefined;
  readonly said: string | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    details: {
      retryAfterMs?: number | undefined;
      httpStatus?: number | undefined;
      said?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'ServiceFailure';
    this.kind = kind;
    this.retryAfterMs = details.retryAfterMs;
    this.httpStatus = details.httpStatus;
    this.said = details.said;
  }
}

/**
 * The service refused this request before acting on it. It speaks of this request alone: an earlier one
 * with the same reference, whose answer was lost, may have been charged all the same.
 */
export type NotMade =
  | { kind: 'not_made'; failure: 'unauthorized' | 'forbidden' | 'rate_limited'; cause: ServiceFailure }
  /** The body failed the service's validation (HTTP 400). The message is the service's own, when it sent one. */
  | { kind: 'not_made'; failure: 'invalid_request'; message: string | undefined };

export type RejectionReason =
  | 'invalid_token'
  | 'email_mismatch'
  | 'reference_exists'
  | 'card_not_supported'
  | 'email_invalid'
  | 'other';

/** `degraded`: it works, with less. `detail` and `fix` are read by anyone who reaches the port: nothing secret. */
export type PartHealth = { state: 'ok' | 'degraded' | 'down'; detail?: string; fix?: string };

/** The word Node gives a failure of the system (ENOENT, EADDRINUSE); undefined for an error without one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The store did not answer in time, or refused. Whether the call was carried out is unknown. */
export class StoreUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreUnavailable';
  }
}

/** What stands in the way of a connection, by the system's own word for it. */
const networkWords = {
  no_host: /ENOTFOUND|EAI_AGAIN/,
  refused: /ECONNREFUSED/,
  untrusted: /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|CERT_UNTRUSTED/,
  wrong_certificate: /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ALTNAME_INVALID/,
  no_tls: /WRONG_VERSION_NUMBER|ERR_SSL_|EPROTO/,
} as const;

export type NetworkTrouble = keyof typeof networkWords;

/** Undefined for words that say none of these. */
export function networkTrouble(words: string): NetworkTrouble | undefined {
  return (Object.keys(networkWords) as NetworkTrouble[]).find((trouble) => networkWords[trouble].test(words));
}

/** An error's own words and its causes', to look for a known one in: they may hold an address. */
export function wordsOfCauses(error: unknown): string {
  const words: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    words.push(errorCode(at) ?? '', at.message);
  return words.join(' ');
}
