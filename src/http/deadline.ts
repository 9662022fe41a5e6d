/** What the work gave, or a rejection once the time is over; the work itself is not stopped. */
export async function withDeadline<T>(work: () => T | Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([startWork(work), deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A throw before the first await becomes a rejection too. */
async function startWork<T>(work: () => T | Promise<T>): Promise<T> {
  return await work();
}
