import { z } from 'zod';
import { minorFromWire } from '../../domain/money.ts';
import { refusal, type Answer } from './answer.ts';
import type { Call } from './route.ts';

/** Reads the body strictly, as a service does; otherwise HTTP 400 with the field's name and never its value. */
export function readBody<T>(
  schema: z.ZodType<T>,
  call: Call,
): { ok: true; value: T } | { ok: false; answer: Answer } {
  const read = schema.safeParse(call.body);
  if (read.success) return { ok: true, value: read.data };
  const issue = read.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  return { ok: false, answer: refusal(400, `${field === '' ? 'The body' : field}: ${issue?.message ?? ''}`) };
}

/** Minor units of "5000.00": exactly two decimals, above zero. Spec: Online checkout (amount). */
export const amount = z
  .string()
  .regex(/^\d{1,13}\.\d{2}$/, 'must be a string with two decimal places')
  .transform((text) => minorFromWire(text) ?? 0)
  .refine((minor) => minor > 0, 'must be more than zero');

export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be a currency code');

/** Spec: Limits (orderReference length). */
export const orderReference = z
  .string()
  .min(1)
  .refine((text) => [...text].length <= 50, 'must have at most 50 characters');

export const email = z.email();
