import { parsed, problem, type Parsed } from '../domain/parsed.ts';

/** Reads the words of a verb that takes none. `why` is told, in place of what was typed, to whoever typed some. */
export function nothingAfter(why: string): (words: readonly string[]) => Parsed<undefined> {
  return (words) => (words.length === 0 ? parsed(undefined) : problem(why));
}
