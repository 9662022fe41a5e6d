import type { z } from 'zod';

/** What a button carries or a modal keeps, as the text that goes to Slack and comes back: nothing secret in it. */
type Codec<T> = {
  write: (value: T) => string;
  /** Undefined for a text that is not ours. */
  read: (text: string) => T | undefined;
};

export function codec<T>(schema: z.ZodType<T>): Codec<T> {
  return {
    write: (value) => JSON.stringify(value),
    read(text) {
      try {
        return schema.safeParse(JSON.parse(text)).data;
      } catch {
        return undefined;
      }
    },
  };
}
