/**
 * A clock that starts at `fromMs` and runs `factor` times as fast as the real one. All processes with the same two
 * numbers read the same time.
 */
export function fastClock({ fromMs, factor }: { fromMs: number; factor: number }, realNow = Date.now) {
  return (): number => fromMs + (realNow() - fromMs) * factor;
}
