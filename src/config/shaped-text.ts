import { z } from 'zod';

/** Text of this shape; what is no text at all is told in the same words. */
export function shapedText(pattern: RegExp, words: string): z.ZodString {
  return z.string(words).regex(pattern, words);
}
