import type { Outside } from '../config/config.ts';
import { ServiceFailure, type FailureKind, StoreUnavailable } from '../domain/failure.ts';
import { newErrorId } from '../log.ts';
import type { CommandEnd } from './command.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { quotedText } from './lines.ts';

/** What the outside did and what helps, for whoever can change the settings; a bug is in the log by its id. */
export function failedQuestion({ log }: Outside, error: unknown): CommandEnd {
  if (error instanceof ServiceFailure) return serviceProblem(error);
  if (error instanceof StoreUnavailable) {
    const next =
      'Next: check that it runs and can be reached from here (REDIS_URL, DATA_DIR), then try again.';
    return { exitCode: exitCodes.noAnswer, words: `The store does not answer: ${error.message}\n${next}` };
  }
  const errorId = newErrorId();
  log('error', 'the command broke off', { errorId }, error);
  const words = error instanceof Error ? error.message : 'Unknown error';
  return { exitCode: exitCodes.failed, words: `Nothing was changed. ${words} (error ${errorId})` };
}

function serviceProblem({ kind, message, retryAfterMs, said }: ServiceFailure): CommandEnd {
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
