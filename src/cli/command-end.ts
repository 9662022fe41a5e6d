import type { ExitCode } from './exit-codes.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';

/**
 * What a command did, for the screen, and the process's exit code. `isReport`: the words are what was asked for, and go
 * where data goes, whatever the code says of them.
 */
export type CommandEnd = { exitCode: ExitCode; words: string; isReport?: true };

/** Data for standard output; resolves when it is written. */
export type Out = (text: string) => Promise<void>;

export function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return `The store does not answer: ${error.message}`;
  return error instanceof Error ? error.message : 'Unknown error';
}
