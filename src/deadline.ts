/** The deadline has passed. The work was not stopped, so it may still be carried out. */
export class DeadlinePassed extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms; it may still be carried out`);
    this.name = 'DeadlinePassed';
  }
}

/**
 * Resolves or rejects as the work does, or rejects at the deadline with `late()` (default DeadlinePassed). The work
 * gets a signal that is aborted at the deadline; work that ignores it continues, and its result or error is dropped. If
 * the work throws synchronously, this rejects.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => T | Promise<T>,
  late: () => Error = () => new DeadlinePassed(timeoutMs),
): Promise<T> {
  const over = new AbortController();
  return await answeredWithin(timeoutMs, (async () => await work(over.signal))(), () => {
    const error = late();
    over.abort(error);
    return error;
  });
}

/**
 * Like `withDeadline`, for a promise that is already under way. Makes no AbortSignal: for each event that would cost
 * more than the deadline itself.
 */
export function answeredWithin<T>(
  timeoutMs: number,
  answer: Promise<T>,
  late: () => Error = () => new DeadlinePassed(timeoutMs),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs);
    const stop = (): void => clearTimeout(timer);
    answer.then(stop, stop);
    answer.then(resolve, reject);
  });
}

/** The wait before the next attempt: `firstMs` doubled `times` times, at most `longestMs`. */
export function growingDelayMs(firstMs: number, times: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** times, longestMs);
}
