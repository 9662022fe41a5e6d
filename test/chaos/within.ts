import { withDeadline } from '../../src/deadline.ts';

/** The promise's own outcome if it comes in time; else a rejection that says what was waited for. */
export function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  return withDeadline(
    timeoutMs,
    () => promise,
    () => new Error(`Not within ${timeoutMs / 1_000} s: ${what}.`),
  );
}
