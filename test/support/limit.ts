export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

/** Begins what it is given in the order given, so many at once. */
export function createLimit(most: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // Whoever waits takes over this one's room.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
