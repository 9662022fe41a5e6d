/** A stretch of time, UTC ms: it ends with its own length, and a clock that is put back before its beginning ends it at once. */
export type Span = { fromMs: number; untilMs: number };

export function spanOf(fromMs: number, lengthMs: number): Span {
  return { fromMs, untilMs: fromMs + lengthMs };
}

/** How much is left of it; 0: it is over, or there is none. */
export function leftOf(span: Span | undefined, nowMs: number): number {
  if (span === undefined || nowMs < span.fromMs) return 0;
  return Math.max(0, span.untilMs - nowMs);
}

export const dayMs = 86_400_000;
