import { z } from 'zod';
import type { World } from './world.ts';

/** The answer of a Web API method; `retryAfterS` makes it a 429. */
export type ApiAnswer = { ok: boolean; error?: string; retryAfterS?: number; [field: string]: unknown };

/** A call's arguments as sent: texts from a form, or JSON values. */
export type ApiArguments = Record<string, unknown>;

export type Method = {
  /** The kind of token that it needs. */
  token: 'bot' | 'app';
  /** The scope it needs, if that does not depend on the arguments. */
  scope?: string;
  /** Seconds to wait if this call exceeds the rate limit; undefined: it is allowed, and counts. */
  pace?: (world: World, given: ApiArguments) => number | undefined;
  run(world: World, given: ApiArguments): ApiAnswer;
};

export function granted(fields: Record<string, unknown> = {}): ApiAnswer {
  return { ok: true, ...fields };
}

export function refused(error: string, messages: string[] = []): ApiAnswer {
  return messages.length === 0 ? { ok: false, error } : { ok: false, error, response_metadata: { messages } };
}

export function missingScope(world: World, needed: string): ApiAnswer {
  return { ok: false, error: 'missing_scope', needed, provided: [...world.app.scopes].join(',') };
}

export const text = z.string().min(1);
export const optionalText = z.string().optional();
/** `true`, `"true"` and `1` mean yes; everything else no. */
export const flag = z
  .unknown()
  .optional()
  .transform((value) => ['true', '1', 'True'].includes(String(value)));

/** A method that checks the shape of its arguments; Slack answers `invalid_arguments` and names the wrong one. */
export function method<Shape extends z.ZodRawShape>(
  about: { token?: 'bot' | 'app' } & Pick<Method, 'scope' | 'pace'>,
  shape: Shape,
  run: (world: World, given: z.infer<z.ZodObject<Shape>>, raw: ApiArguments) => ApiAnswer,
): Method {
  const whole = z.object(shape);
  return {
    token: 'bot',
    ...about,
    run(world, raw) {
      const read = whole.safeParse(raw);
      if (read.success) return run(world, read.data, raw);
      return refused(
        'invalid_arguments',
        read.error.issues.map((issue) => {
          const name = issue.path.join('/');
          return raw[name] === undefined
            ? `[ERROR] missing required field: ${name}`
            : `[ERROR] ${issue.message} [json-pointer:/${name}]`;
        }),
      );
    },
  };
}
