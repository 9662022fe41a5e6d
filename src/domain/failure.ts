export type FailureKind =
  | 'timeout'
  | 'network'
  | 'unauthorized'
  | 'forbidden'
  | 'rate_limited'
  | 'server'
  | 'refused'
  | 'malformed';

/**
 * The payments service could not be reached, or gave no usable answer. (Answers like declined, rejected, not found or
 * wrong OTP are values instead.) The message never contains a token, an OTP or a body; the cause is logged. `said`: the
 * service's words without known secrets, only for the person who asked, never for the log or the health report.
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
 * The service refused this request before acting on it. That says nothing about other requests: an earlier one with the
 * same reference, or one whose answer was lost, may have charged.
 */
export type NotMade =
  | { kind: 'not_made'; failure: 'unauthorized' | 'forbidden' | 'rate_limited'; cause: ServiceFailure }
  /** HTTP 400, or 404 where no money moves: the request is wrong. `message`: the service's own words, if any. */
  | { kind: 'not_made'; failure: 'invalid_request'; message: string | undefined };

export type RejectionReason =
  | 'invalid_token'
  | 'email_mismatch'
  | 'reference_exists'
  | 'card_not_supported'
  | 'email_invalid'
  | 'other';

/**
 * The state of one part of the bot. `degraded`: it works, but not fully. `detail` and `fix` are public, so they contain
 * nothing secret.
 */
export type PartHealth = { state: 'ok' | 'degraded' | 'down'; detail?: string; fix?: string };

/**
 * The health of a part that needs the store. If the store is away, the part is only `degraded`: the store's own check
 * is then `down`, and only that may make the whole bot unready.
 */
export async function degradedIfAway(look: () => Promise<PartHealth>): Promise<PartHealth> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof StoreUnavailable) return { state: 'degraded', detail: 'the store does not answer' };
    throw error;
  }
}

/** Node's code of a system error (ENOENT, EADDRINUSE); undefined if it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The store refused the call, or did not answer in time. The call may have been carried out all the same. */
export class StoreUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreUnavailable';
  }
}

/** For `catch`: rethrows every error except that of a store that is away. */
export function undefinedIfAway(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error;
}

/** Why a connection failed, by Node's error codes. */
const networkWords = {
  no_host: /ENOTFOUND|EAI_AGAIN/,
  refused: /ECONNREFUSED/,
  untrusted: /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|CERT_UNTRUSTED/,
  wrong_certificate: /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ALTNAME_INVALID/,
  no_tls: /WRONG_VERSION_NUMBER|ERR_SSL_|EPROTO/,
} as const;

export type NetworkTrouble = keyof typeof networkWords;

/** Undefined if the text names no network error. */
export function networkTrouble(words: string): NetworkTrouble | undefined {
  return (Object.keys(networkWords) as NetworkTrouble[]).find((trouble) => networkWords[trouble].test(words));
}

/** The messages of an error and its causes. Only to search in: they may contain an address. */
export function wordsOfCauses(error: unknown): string {
  const words: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    words.push(errorCode(at) ?? '', at.message);
  return words.join(' ');
}
