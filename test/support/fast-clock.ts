/**
 * A clock that starts at `fromMs` and then runs `factor` times as fast as the real one: all who are given the
 * same two numbers, in whichever process, read the same time.
 */
export function fastClock({ fromMs, factor }: { fromMs: number; factor: number }, realNow = Date.now) {
  return (): number => fromMs + (realNow() - fromMs) * factor;
}
