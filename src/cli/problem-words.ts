import { ServiceFailure, type FailureKind, StoreUnavailable } from '../domain/failure.ts';
import { quotedText } from './lines.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';

export type Problem = { exitCode: ExitCode; words: string };

/** A list that is forgotten, or whose cursor the service no longer takes. */
export const listGone: Problem = {
  exitCode: exitCodes.noAnswer,
  words: 'The service’s list has expired.\nNext: read it again.',
};

/** What the outside did and what helps, for whoever can change the settings; undefined for a bug. */
export function outsideProblem(error: unknown): Problem | undefined {
  if (error instanceof ServiceFailure) return serviceProblem(error);
  if (error instanceof StoreUnavailable) {
    const next =
      'Next: check that it runs and can be reached from here (REDIS_URL, DATA_DIR), then try again.';
    return { exitCode: exitCodes.noAnswer, words: `The store does not answer: ${error.message}\n${next}` };
  }
  return undefined;
}

function serviceProblem({ kind, message, retryAfterMs, said }: ServiceFailure): Problem {
  const { exitCode, next } = advice[kind];
  const wait =
    retryAfterMs === undefined
      ? next
      : `wait ${Math.max(1, Math.ceil(retryAfterMs / 1_000))} s, as the service asks, then try again.`;
  const theirs = quotedText(said);
  const quote = theirs === undefined ? '' : `\nThe service says: ${theirs}`;
  return { exitCode, words: `${message}${quote}\nNext: ${wait}` };
}

const { noAnswer, refused } = exitCodes;

const advice: Record<FailureKind, { exitCode: ExitCode; next: string }> = {
  timeout: {
    exitCode: noAnswer,
    next: 'try again in a minute; PAYMENTS_TIMEOUT_SECONDS says how long an answer is awaited.',
  },
  network: {
    exitCode: noAnswer,
    next: 'check PAYMENTS_BASE_URL (in the sandbox PAYMENTS_SANDBOX_URL) and the way there from this machine.',
  },
  unauthorized: {
    exitCode: refused,
    next: 'check PAYMENTS_ACCOUNT_ID and the credentials: PAYMENTS_CLIENT_ID, PAYMENTS_CLIENT_SECRET, PAYMENTS_TOKEN_ISSUE_BODY or PAYMENTS_STATIC_TOKEN.',
  },
  forbidden: {
    exitCode: refused,
    next: 'ask the payments service for the permission, or check PAYMENTS_ACCOUNT_ID.',
  },
  rate_limited: { exitCode: noAnswer, next: 'try again in a few minutes.' },
  server: { exitCode: noAnswer, next: 'try again in a few minutes.' },
  refused: { exitCode: refused, next: 'correct what it names, then try again.' },
  malformed: {
    exitCode: noAnswer,
    next: 'check PAYMENTS_BASE_URL (in the sandbox PAYMENTS_SANDBOX_URL); if it is right, the service may have changed.',
  },
};
