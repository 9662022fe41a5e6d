/** A stretch of time, UTC ms. A clock put back to before its beginning ends it at once. */
export type Span = { fromMs: number; untilMs: number };

export function spanOf(fromMs: number, lengthMs: number): Span {
  return { fromMs, untilMs: fromMs + lengthMs };
}

/** The time left; 0 if it is over or absent. */
export function leftOf(span: Span | undefined, nowMs: number): number {
  if (span === undefined || nowMs < span.fromMs) return 0;
  return Math.max(0, span.untilMs - nowMs);
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
