/**
 * What reading a person's words gives: the value, or a problem told in words that say what to do.
 * Never thrown, so that a caller cannot forget the unhappy half.
 */
export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function problem(text: string): { ok: false; problem: string } {
  return { ok: false, problem: text };
}
