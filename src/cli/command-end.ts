import type { Outside } from '../config/config.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import type { ExitCode } from './exit-codes.ts';
import { StoreUnavailable } from '../domain/failure.ts';

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

/** What was typed, understood. `alone`: it needs no settings. */
export type Prepared =
  | { run: (outside: Outside, out: Out) => Promise<CommandEnd> }
  | { alone: () => Promise<CommandEnd> };

/** One of the operator's commands: what help says of it, how it is read, what it does. It never throws for what is outside. */
export type OperatorCommand = {
  summary: string;
  usage: readonly string[];
  more: string;
  /** Without --account it is done for each account, or wants one named; or it is about what all have together, and reads that option itself. */
  scope: 'each' | 'one' | 'shared';
  /** The problem says how it is typed, and repeats nothing of what was: that may be a token or a card number. */
  prepare: (words: readonly string[]) => Parsed<Prepared>;
};

/** Of a command behind which nothing is typed. */
export function withoutWords(
  run: (outside: Outside) => Promise<CommandEnd>,
  misread: string,
): OperatorCommand['prepare'] {
  return (words) => (words.length === 0 ? parsed({ run }) : problem(misread));
}
