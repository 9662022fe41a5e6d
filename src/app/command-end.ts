import type { ExitCode } from '../cli/exit-codes.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';

/** What a command did, for the screen, and the process's exit code. */
export type CommandEnd = { exitCode: ExitCode; words: string };

/** Data for standard output; resolves when it is written. */
export type Out = (text: string) => Promise<void>;

export function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return `The store does not answer: ${error.message}`;
  return error instanceof Error ? error.message : 'Unknown error';
}
