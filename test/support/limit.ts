export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs work in the given order, at most so many at once. */
export function createLimit(most: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The next one waiting takes this one's place.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
