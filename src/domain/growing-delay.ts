/** `firstMs` doubled `times` times, but no longer than `longestMs`: how long to wait before the next attempt. */
export function growingDelayMs(firstMs: number, times: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** times, longestMs);
}
