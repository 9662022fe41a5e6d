/** The time given to a piece of work is over. The work was not stopped: it may still be carried out. */
export class DeadlinePassed extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms; it may still be carried out`);
    this.name = 'DeadlinePassed';
  }
}

/**
 * The work's own outcome if it comes in time, else a rejection with what `late` gives (DeadlinePassed when
 * absent). Work that listens to the signal it is given ends then too; other work goes on unheard, and what
 * it throws later ends nothing. A throw before the work's first await is a rejection as well.
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

/** The same of what is under way already and cannot be told to end: a signal for each event costs more than its deadline. */
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

/** `firstMs` doubled `times` times, but no longer than `longestMs`: how long to wait before the next attempt. */
export function growingDelayMs(firstMs: number, times: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** times, longestMs);
}
