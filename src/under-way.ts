import { newErrorId, type Log } from './log.ts';

/**
 * Keeps what has begun and not ended, in no order. `enter` adds one, and returns a function to call once at its end.
 *
 * An array, because a Set that is filled and emptied all the time keeps its old tables, and the objects in them, alive
 * in the old generation of the garbage collector. With a Set, a webhook cost twice the processor time, and the process
 * grew by hundreds of megabytes.
 */
export function createUnderWay<One>() {
  const places: { one: One; at: number }[] = [];
  return {
    enter(one: One): () => void {
      const place = { one, at: places.length };
      places.push(place);
      return () => {
        const last = places.pop();
        if (!last || last === place) return;
        places[place.at] = last;
        last.at = place.at;
      };
    },
    all: () => places.map(({ one }) => one),
    count: () => places.length,
  };
}

/** Keeps track of promises that nothing else may await. */
export function createWorkUnderWay() {
  const working = createUnderWay<Promise<unknown>>();
  return {
    /** Returns the same promise; handling its rejection is up to the caller. */
    add: <Result>(work: Promise<Result>): Promise<Result> => {
      const leave = working.enter(work);
      work.then(leave, leave);
      return work;
    },
    /** Resolves when no work is under way, including work that was added meanwhile. Never rejects. */
    drained: async (): Promise<void> => {
      while (working.count() > 0) await Promise.allSettled(working.all());
    },
    count: working.count,
  };
}

/** Work in the background. An error is logged and never ends the process; the timer on the work's record retries it. */
export function createBackground(log: Log, what: string) {
  const working = createWorkUnderWay();
  return {
    add: (work: Promise<unknown>): void => {
      const told = work.catch((error: unknown) => {
        const about = { errorId: newErrorId() };
        log('error', `work on ${what} broke off; its timer takes it up`, about, error);
      });
      void working.add(told);
    },
    drained: working.drained,
  };
}
