/** A period, UTC ms. If the clock is put back to before its beginning, it counts as over. */
export type Span = { fromMs: number; untilMs: number };

export function spanOf(fromMs: number, lengthMs: number): Span {
  return { fromMs, untilMs: fromMs + lengthMs };
}

/** The time left in ms; 0 if the period is over or absent. */
export function leftOf(span: Span | undefined, nowMs: number): number {
  if (span === undefined || nowMs < span.fromMs) return 0;
  return Math.max(0, span.untilMs - nowMs);
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
