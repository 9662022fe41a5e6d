import { type FailureKind, ServiceFailure, StoreUnavailable } from '../domain/failure.ts';

/** How a command ends, for scripts. `exitCodeWords` explains each. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unproven: 3,
  notFound: 4,
  settings: 5,
  noAnswer: 6,
  refused: 7,
  interrupted: 130,
  readerGone: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The code of a command that an error has ended. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof StoreUnavailable) return exitCodes.noAnswer;
  if (!(error instanceof ServiceFailure)) return exitCodes.failed;
  return refusals.has(error.kind) ? exitCodes.refused : exitCodes.noAnswer;
}

const refusals: ReadonlySet<FailureKind> = new Set(['unauthorized', 'forbidden', 'refused']);

/** For scripts. A look-up ends with 0 only if it is *paid*; every other end, a bug included, has another code. */
export const exitCodeWords: Readonly<Record<ExitCode, string>> = {
  0: 'done; for lookup: paid, with all three proofs; for doubt: no outcome is open',
  1: 'not done, for a reason that standard error tells, or because of a bug; explain-delivery: it does not verify; doctor: something is broken',
  2: 'the command was not understood; nothing was asked of anybody',
  3: 'lookup: the transaction is there, but not proven paid; doubt: some outcome is not known; audit, day, a list: not whole',
  4: 'lookup: the service knows no such transaction; a list: nothing matches',
  5: 'a setting is missing or wrong',
  6: 'no usable answer from the payments service or the store; try again',
  7: 'the payments service refused the credentials, the permission or the question; trying again will not help',
  130: 'stopped with Ctrl-C',
  141: 'the reader of the output has left (as with | head)',
};
