import { StoreUnavailable } from '../domain/store-unavailable.ts';

/** What an operator's command did, for the screen, and the process's exit code. */
export type CommandEnd = { exitCode: 0 | 1 | 2; words: string };

export function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return `The store does not answer: ${error.message}`;
  return error instanceof Error ? error.message : 'Unknown error';
}
