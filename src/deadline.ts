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
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = late();
    deadline.reject(error);
    over.abort(error);
  }, timeoutMs);
  try {
    return await Promise.race([work(over.signal), deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}
